/** The memory that a process needs for many of something. */
export interface MemoryComparison {
  name: string;
  of: 'memory';
  /** Most bytes for each. */
  target: number;
  /** @returns bytes for each */
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
