/** What many of something cost a process in memory. */
export interface MemoryComparison {
  name: string;
  of: 'memory';
  /** Bytes of each, at most. */
  target: number;
  /** @returns bytes of each */
  measure(): Promise<number>;
}

export interface MemoryResult {
  name: string;
  of: 'memory';
  target: number;
  isMet: boolean;
  bytes: number;
}

export async function measureMemory({ name, of, target, measure }: MemoryComparison): Promise<MemoryResult> {
  const bytes = await measure();
  return { name, of, target, isMet: bytes <= target, bytes };
}
