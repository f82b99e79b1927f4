import { describe, expect, it } from 'vitest';
import { foldText, gramsOf, isFoundInside, partOf, wordsOf } from './search-text.js';

describe('a folded text', () => {
  it.each([
    ['Rye LOAF', 'rye loaf'],
    ['Émile Ångström', 'emile angstrom'],
    ['Straße STRASSE', 'strasse strasse'],
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

it('grams are the letters from each place of a word, and its beginning', () => {
  expect(gramsOf(['bicycle']).sort()).toEqual(['^bi', 'bicycl', 'cle', 'cycle', 'e', 'icycle', 'le', 'ycle']);
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
        const part = partOf(text.slice(from, to));
        if (part === undefined) continue;
        checked += 1;
        expect(
          wordsOf(text).some((word) => word.includes(part)),
          `${text.slice(from, to)} of ${text}`,
        ).toBe(true);
      }
    }
  }
  expect(checked).toBeGreaterThan(250);
});
