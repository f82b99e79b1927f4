import { readFileSync, readdirSync } from 'node:fs';
import compile from 'icu-minify/compile';
import { fixture, startTestServer } from '@tandem/testing';
import { parseSync } from 'vite';
import { beforeAll, describe, expect, it } from 'vitest';
import { texts as words } from '../src/texts/ja/words.js';
import { texts as errors } from '../src/texts/ja/errors.js';
import { texts as fields } from '../src/texts/ja/fields.js';
import { texts as operations } from '../src/texts/ja/operations.js';
import { texts as descriptions } from '../src/texts/ja/descriptions.js';
import { problemIn } from '../src/texts/problems.js';
import { readDefinitions } from '../src/records/definitions.js';
import { descriptionKey } from '../src/records/description-key.js';
import type { ApiDocument, Schema } from '../src/reference/document.js';
import { readReference } from '../src/reference/reference.js';
import { alternativesOf, flatten } from '../src/reference/schema-text.js';
import { tabsOf } from '../src/records/tabs.js';

const SOURCE = new URL('../src/', import.meta.url);
const FILES = readdirSync(SOURCE, { recursive: true }) as string[];
const read = (path: string) => readFileSync(new URL(path, SOURCE), 'utf8');

/** The texts of a language by key: `chat.composer.send`. */
async function catalogue(language: string): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  const collect = (value: unknown, path: string): void => {
    if (typeof value === 'string') texts.set(path, value);
    else for (const [key, part] of Object.entries(value as object)) collect(part, `${path}.${key}`);
  };
  for (const file of readdirSync(new URL('texts/en/', SOURCE))) {
    const { texts: own } = (await import(new URL(`texts/${language}/${file}`, SOURCE).href)) as { texts: object };
    collect(own, file.replace(/\.ts$/, ''));
  }
  return texts;
}

/** The names of what is put into a message. */
function argumentsOf(message: unknown): string[] {
  if (!Array.isArray(message)) return [];
  return message.flatMap((node: unknown): string[] => {
    if (!Array.isArray(node)) return [];
    const [name, kind, ...rest] = node as [string, unknown, ...unknown[]];
    // a plural or a choice has its messages by their cases, an element has its own
    const inner = typeof kind === 'number' ? Object.values((rest[0] as object | undefined) ?? {}) : [[kind, ...rest]];
    return [name, ...inner.flatMap(argumentsOf)];
  });
}
const argumentSet = (text: string) => [...new Set(argumentsOf(compile(text)))].toSorted();

describe('the texts of the console', () => {
  it('are the same in both languages, with the same arguments', async () => {
    const [english, japanese] = [await catalogue('en'), await catalogue('ja')];
    expect([...japanese.keys()]).toEqual([...english.keys()]);
    for (const [key, text] of english)
      expect([key, ...argumentSet(japanese.get(key) ?? '')]).toEqual([key, ...argumentSet(text)]);
  });

  it('say one and many by the rules of plurals', async () => {
    const counted = /\{\w+, number\} (\{?\w+\}? )?\{?[a-z]+\}?s\b/;
    const plain = [...(await catalogue('en'))].filter(([, text]) => counted.test(text) && !text.includes('plural'));
    expect(plain).toEqual([]);
  });

  it('are all used', async () => {
    const sources = FILES.filter((path) => /\.tsx?$/.test(path) && !path.startsWith('texts/'))
      .map(read)
      .join('\n');
    const made = [...sources.matchAll(/`((?:\w+\.)+)\$\{/g)].map(([, start = '']) => start);
    const unused = [...(await catalogue('en')).keys()].filter(
      (key) => !sources.includes(`'${key}'`) && !made.some((start) => key.startsWith(start)),
    );
    expect(unused).toEqual([]);
  });

  it('stand in catalogues alone', () => {
    const pages = FILES.filter((path) => path.endsWith('.tsx') && !path.startsWith('reference/'));
    expect(pages.flatMap((path) => literalsIn(read(path)).map((text) => `${path}: ${text}`))).toEqual([]);
  });
});

type Node = { type: string; [part: string]: unknown };
const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === 'string';
/** Attributes and properties that people read. */
const READ = /^(aria-label|title|placeholder|alt|label|hint|what|action|caption|text|listLabel|notice|of)$/;
/** Names of programs and of kinds, codes and signs. */
const IS_NO_TEXT = /^(JSON|curl|Ctrl K|Tandem|[^\p{L}]*|[a-z][\w./*, -]*)$/u;

/** The literal texts of a page that people read: in elements, in their attributes, and in what is handed on under such names. */
function literalsIn(code: string): string[] {
  const found: string[] = [];
  function literal(node: unknown): void {
    if (!isNode(node)) return;
    if (node.type === 'JSXText' || (node.type === 'Literal' && typeof node['value'] === 'string')) {
      const text = String(node['value']).trim();
      if (!IS_NO_TEXT.test(text)) found.push(text);
    }
    if (node.type === 'TemplateLiteral')
      for (const part of node['quasis'] as Node[]) {
        const text = (part['value'] as { raw: string }).raw.trim();
        if (/\p{L}{2}/u.test(text) && !IS_NO_TEXT.test(text)) found.push(text);
      }
    if (node.type === 'JSXExpressionContainer') literal(node['expression']);
    if (node.type === 'ConditionalExpression') [node['consequent'], node['alternate']].forEach(literal);
    if (node.type === 'LogicalExpression') [node['left'], node['right']].forEach(literal);
  }
  function walk(node: unknown): void {
    if (Array.isArray(node)) return node.forEach(walk);
    if (!isNode(node)) return;
    if (node.type === 'JSXElement' || node.type === 'JSXFragment') (node['children'] as Node[]).forEach(literal);
    const name = (node['name'] ?? node['key']) as { name?: unknown } | undefined;
    if ((node.type === 'JSXAttribute' || node.type === 'Property') && READ.test(String(name?.name))) literal(node['value']);
    for (const part of Object.values(node)) walk(part);
  }
  walk(parseSync('page.tsx', code, { lang: 'tsx' }).program);
  return found;
}

const SERVICES = new URL('../../../packages/services/src/', import.meta.url);
/** The sources of a folder, but for tests and what is not for forms. */
function sourcesOf(folder: URL, others: RegExp): string[] {
  const files = readdirSync(folder, { recursive: true }) as string[];
  return files
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !others.test(path))
    .map((path) => readFileSync(new URL(path, folder), 'utf8'));
}
const { problems } = errors;
const inJapanese = (said: string) =>
  problemIn(problems, said, (name) =>
    Object.hasOwn(fields.fields, name) ? (fields.fields as Record<string, string>)[name] : undefined,
  );

describe('the server’s document', () => {
  const app = fixture(startTestServer);
  let document: ApiDocument;
  let definitions: ReturnType<typeof readDefinitions>;
  beforeAll(async () => {
    document = (await (await fetch(`${app.url}/openapi.json`)).json()) as ApiDocument;
    definitions = readDefinitions(readReference(document, app.url));
  });
  const missing = (names: Iterable<string>, known: object) => [...new Set(names)].filter((name) => !Object.hasOwn(known, name));

  it('has a Japanese word for each operation', () => {
    expect(missing(definitions.operations.keys(), operations.operations)).toEqual([]);
    expect(missing(Object.keys(operations.operations), Object.fromEntries(definitions.operations))).toEqual([]);
  });

  it('has a Japanese word for each kind, and for each list below a record', () => {
    const { kinds } = definitions;
    const tabs = kinds.flatMap((kind) => tabsOf(kind, '', definitions).map(({ name }) => name));
    expect(missing([...kinds.map(({ name }) => name), ...tabs], words.kinds)).toEqual([]);
  });

  it('has a Japanese word for each field that is shown or asked for', () => {
    const shown = definitions.lists.flatMap(({ row }) => Object.keys(row.properties ?? {}));
    expect(missing([...asked().map(([name]) => name), ...shown], fields.fields)).toEqual([]);
  });

  it('has a Japanese word for each value of a choice, and for each security event', () => {
    const values = asked().flatMap(([, schema]) => schema.enum ?? []);
    const { type } = definitions.lists.find(({ operation }) => operation.id === 'auth.events')?.row.properties ?? {};
    const events = definitions.reference.resolve(type ?? {}).enum ?? [];
    expect(events.length).toBeGreaterThan(30);
    const texts = [...values, ...events].filter((value) => typeof value === 'string');
    // currencies and media types are codes in every language
    expect(
      missing(
        texts.filter((text) => !/^[A-Z]{3}$|\//.test(text)),
        words.values,
      ),
    ).toEqual([]);
  });

  it('has a Japanese sentence for each description of a field that is asked for', () => {
    const told = asked().map(([, { description = '' }]) => descriptionKey(description));
    expect(missing(told.filter(Boolean), descriptions.descriptions)).toEqual([]);
  });

  /** Everything that operations take, with the parts of it. */
  function asked(): [name: string, schema: Schema][] {
    const { resolve } = definitions.reference;
    const partsOf = (given: Schema): [string, Schema][] => {
      const schema = flatten(given, resolve);
      const inner = [...alternativesOf(schema), ...(schema.items ? [schema.items] : [])].flatMap(partsOf);
      const own = Object.entries(schema.properties ?? {}).flatMap(([name, part]) => [
        [name, flatten(part, resolve)] as [string, Schema],
        ...partsOf(part),
      ]);
      // an alternative or an item may be one of several values
      return [...own, ...inner, ...(schema.enum ? [['value', schema] as [string, Schema]] : [])];
    };
    return [...definitions.operations.values()].flatMap(({ parameters, body }) => [
      ...parameters
        .filter(({ in: place, name }) => place !== 'header' && !/^\$|^(page|limit)$/.test(name))
        .map(({ name, schema = {}, description = '' }): [string, Schema] => [
          name,
          { ...flatten(schema, resolve), ...(description && { description }) },
        ]),
      ...partsOf(body?.schema ?? {}),
    ]);
  }

  it('has a Japanese text for each error', () => {
    const listed = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8');
    const codes = [...listed.matchAll(/^\| `(\w+\.\w+)`/gm)].map(([, code = '']) => code);
    expect(codes.length).toBeGreaterThan(100);
    expect(missing(codes, errors.errors)).toEqual([]);
  });

  it('has a Japanese sentence for each problem that the services find in an input', () => {
    const said = sourcesOf(SERVICES, /^(streams|shared\/records|webhooks\/delivery)/).flatMap((code) =>
      [
        ...code.matchAll(
          /([`'"])(?:request body\S* )?(must (?:NOT )?(?:have|be|match|name|add) (?:(?!\1)[^\n])+)\1(?=[,);\s\]}])/g,
        ),
      ].map(([, , text = '']) => text.replaceAll(/\$\{[^}]*\}/g, '7')),
    );
    expect(said.length).toBeGreaterThan(20);
    expect([...new Set(said)].filter((text) => !inJapanese(text))).toEqual([]);
    expect(inJapanese('request body/items/0/price must be >= 0')).toEqual({ field: '価格', text: '0以上にしてください。' });
    expect(inJapanese("request body must have required property 'email'")?.text).toBe('メールアドレスを入力してください。');
    for (const text of ['request body/unheardOf must be >= 0', "query parameter '$filter' is odd", 'request body/name is odd'])
      expect(inJapanese(text)).toBeUndefined();
  });
});
