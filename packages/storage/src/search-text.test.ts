import { describe, expect, it } from 'vitest';
import { foldText, GRAM, gramsOf, isFoundInside, LONG, partOf, wordsOf } from './search-text.js';

describe('a folded text', () => {
  it.each([
    ['Rye LOAF', 'rye loaf'],
    ['Émile Ångström', 'emile angstrom'],
    ['Straße STRASSE STRAẞE', 'strasse strasse strasse'],
    ['ΟΔΟΣ Ὀδός', 'οδοσ οδοσ'],
    ['Ёлка й Й и\u0306', 'елка й й й'],
    ['ｱﾊﾟｰﾄ ＡＢＣ', 'アパート abc'],
    ['が か\u3099', 'が が'],
    ['가 \u1100\u1161', '가 가'],
    ['ıİ', 'ii'],
  ])('of %s has neither case, width nor accents', (text, folded) => {
    expect(foldText(text)).toBe(folded);
  });
});

it('words are runs of letters and digits, each once', () => {
  expect(wordsOf('C++ & rye-loaf, Rye 2kg! हिन्दी')).toEqual(['c', 'rye', 'loaf', '2kg', 'हिन्दी']);
});

it.each([
  ['marks in disorder', '\u0316\u0301'],
  ['letters that become marks', '\u0316\uff9e'],
])('a word with thousands of %s has thirty marks, and is found by its letters', (_, pair) => {
  const text = `क${pair.repeat(5000)}खगघ`;
  const [word = ''] = wordsOf(text);
  expect(word).toMatch(/^क\p{M}{30}खगघ$/u);
  expect(word).toContain(partOf(text, 'whole')?.trimStart());
});

it('a text that repeats itself is indexed as far as others are, and its words are read', () => {
  expect(gramsOf(wordsOf('㌖'.repeat(10_000)))).toEqual([LONG]);
  expect(gramsOf(wordsOf('ㄅ'.repeat(9000))).includes(LONG)).toBe(false);
});

it('grams are the beginning of a word, and the letters from each place where a search may begin', () => {
  expect(gramsOf(['bicycle', 'of']).sort()).toEqual([' bicycl', ' of', 'cle', 'cycle', 'icycle', 'ycle']);
  expect(gramsOf(['大学生協', 'パ']).sort()).toEqual([' パ', ' 大学生協', '学生協', '生協']);
});

it('a letter and its lower case are folded alike', () => {
  const unlike: string[] = [];
  for (let code = 0x80; code <= 0x1_ffff; code += 1) {
    const letter = String.fromCodePoint(code);
    const [lower = letter] = letter.toLowerCase();
    if (foldText(letter) !== foldText(lower)) unlike.push(letter);
  }
  expect(unlike).toEqual([]);
});

it.each([
  ['ry', false],
  ['rye', true],
  ['е\u0301й', false],
  ['東京', true],
  ['ｱ', false],
  ['サ', false],
])('%s stands inside words: %s', (word, isInside) => {
  expect(isFoundInside(word)).toBe(isInside);
});

it.each([
  ['rye loaf', 'anywhere', ' loaf'],
  ['ye l', 'anywhere', ' l'],
  ['ски', 'anywhere', 'ск'],
  ['си', 'anywhere', undefined],
  ['ab', 'anywhere', undefined],
  ['ab', 'at the start', ' ab'],
  ['-ab', 'at the start', ' ab'],
  ['\u0301ab', 'at the start', undefined],
  ['a b', 'whole', ' a'],
  ['A1', 'whole', ' a1'],
  ['+', 'whole', undefined],
] as const)('of %s %s, the index is asked for %s', (text, place, part) => {
  expect(partOf(text, place)).toBe(part);
});

it('a part of a text stands in its words, whatever surrounds it there', () => {
  const texts = [
    'Rye loaf, größer',
    'がっこう カ\u3099ラス か\u3099',
    'Ο δρόμος',
    'и\u0306од и',
    '각 \u1100\u1161\u11a8',
    'ﬁne ½ e\u0301t',
    'ｶﾞﾗｽ',
  ];
  let checked = 0;
  for (const text of texts) {
    for (let from = 0; from < text.length; from += 1) {
      for (let to = from + 1; to <= text.length; to += 1) {
        const place = from > 0 ? 'anywhere' : to < text.length ? 'at the start' : 'whole';
        const part = partOf(text.slice(from, to), place);
        if (part === undefined) continue;
        checked += 1;
        expect(` ${wordsOf(text).join(' ')} `, `${text.slice(from, to)} of ${text}`).toContain(part);
        const first = Array.from(part.trimStart()).slice(0, GRAM).join('');
        const grams = gramsOf(wordsOf(text));
        expect(
          grams.some((gram) => gram.startsWith(` ${first}`) || (!part.startsWith(' ') && gram.startsWith(first))),
          `${part} of ${text}`,
        ).toBe(true);
      }
    }
  }
  expect(checked).toBeGreaterThan(150);
});
