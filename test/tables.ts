import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';

/** A Markdown table in prettier's layout. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(3, ...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const line = (cells: readonly string[]) => `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |\n`;
  const [head = [], ...body] = rows;
  return line(head) + line(widths.map((width) => '-'.repeat(width))) + body.map(line).join('');
}

export function inOrder(rows: readonly (readonly string[])[]): (readonly string[])[] {
  return rows.toSorted((a, b) => a.join().localeCompare(b.join(), 'en'));
}

/** Rows that differ in the last cell only become one, with these cells listed. */
export function joined(rows: readonly (readonly string[])[], separator = ', '): string[][] {
  const groups = new Map<string, string[][]>();
  for (const row of rows) {
    const key = row.slice(0, -1).join();
    groups.set(key, [...(groups.get(key) ?? []), [...row]]);
  }
  return [...groups.values()].map((group) => [...(group[0]?.slice(0, -1) ?? []), group.map((row) => row.at(-1)).join(separator)]);
}

/** Markdown in prettier's layout. */
export async function formatted(markdown: string): Promise<string> {
  const settings = await resolveConfig(fileURLToPath(new URL('../README.md', import.meta.url)));
  return format(markdown, { ...settings, parser: 'markdown' });
}

/** A Markdown list of terms and what is said of them. */
export const list = (rows: readonly (readonly string[])[]): Promise<string> =>
  formatted(rows.map(([term = '', text = '']) => `- ${term}: ${text}\n`).join(''));

export const code = (text: string) => `\`${text}\``;
