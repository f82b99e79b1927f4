import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { fileOf } from './generated-part.js';

const FOLDERS = ['docs', 'test', ...['packages', 'apps'].flatMap(partsIn)].filter((name) => existsSync(fileOf(name)));

function partsIn(folder: string): string[] {
  return readdirSync(fileOf(folder)).flatMap((name) => ['src', 'test'].map((part) => `${folder}/${name}/${part}`));
}

/** Those of `E4`, of `F7, F8` and of `F1 to F5`. */
function idsIn(text: string): string[] {
  const [, letter, first, last] = /^([A-Z])(\d+) to [A-Z](\d+)$/.exec(text) ?? [];
  if (!letter) return text.split(', ');
  return Array.from({ length: Number(last) - Number(first) + 1 }, (_, at) => `${letter}${Number(first) + at}`);
}

/** The ids that code and documents cite: `decisions E4, F7`, also where the line ends in between. */
function citedIds(): string[] {
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(fileOf(folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  ).filter((name) => /\.(tsx?|js|md)$/.test(name));
  const citations = files.flatMap(
    (name) => joinedLines(readFileSync(fileOf(name), 'utf8')).match(/\bdecisions? [A-Z]\d+(?:, [A-Z]\d+)*/g) ?? [],
  );
  return [...new Set(citations.flatMap((one) => one.match(/[A-Z]\d+/g) ?? []))];
}

function joinedLines(text: string): string {
  return text.replaceAll(/\s*\n[\s*/#]*/g, ' ');
}

it('each decision that code or a document cites has one entry in docs/decisions.md', () => {
  const decisions = readFileSync(fileOf('docs/decisions.md'), 'utf8');
  const entry = /^(?:- \*\*|#+ (?:.*\()?)([A-Z]\d+(?:(?:, | to )[A-Z]\d+)*)(?:\*\*| |\)$)/gm;
  const entries = [...decisions.matchAll(entry)].flatMap(([, ids = '']) => idsIn(ids));
  const cited = citedIds();
  expect(cited).toContain('A1');
  expect(cited.filter((id) => entries.filter((one) => one === id).length !== 1)).toEqual([]);
});
