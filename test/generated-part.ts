import { readFileSync, writeFileSync } from 'node:fs';

export function fileOf(name: string): URL {
  return new URL(`../${name}`, import.meta.url);
}

/** The part of a document between its markers. With UPDATE_DOCUMENTS set, it is updated instead. */
export function generatedPart(name: string, part: string, expected: string): string {
  const text = readFileSync(fileOf(name), 'utf8');
  const [start, end] = name.endsWith('.md') ? [`<!-- ${part} -->\n\n`, '\n<!-- end -->'] : ['', ''];
  const from = text.indexOf(start) + start.length;
  const to = end === '' ? text.length : text.indexOf(end, from);
  if (from < start.length || to < 0) throw new Error(`${name} has no part ${part}`);
  if (process.env.UPDATE_DOCUMENTS) writeFileSync(fileOf(name), text.slice(0, from) + expected + text.slice(to));
  return process.env.UPDATE_DOCUMENTS ? expected : text.slice(from, to);
}
