import { createTranslator } from 'use-intl/core';
import { useSyncExternalStore, type ReactNode } from 'react';
import { texts as account } from './en/account.js';
import type { texts as catalogue } from './en/catalogue.js';
import type { texts as chat } from './en/chat.js';
import { texts as home } from './en/home.js';
import type { texts as links } from './en/links.js';
import type { texts as records } from './en/records.js';
import type { texts as security } from './en/security.js';
import { texts as ui } from './en/ui.js';
import { problemIn } from './problems.js';

/** The languages of the console, by what they call themselves; each has a folder of texts. */
export const LANGUAGES = { en: 'English', ja: '日本語' } as const;
export type Language = keyof typeof LANGUAGES;

/** All texts, by area: those of an area come with the views that need them. */
interface Texts {
  ui: typeof ui;
  account: typeof account;
  catalogue: typeof catalogue;
  chat: typeof chat;
  home: typeof home;
  links: typeof links;
  records: typeof records;
  security: typeof security;
}

/** What the server's document and its errors say, by kind and name, in a language other than the document's. */
type Terms = Readonly<Record<string, Readonly<Record<string, string>>>>;
const TERMS = ['words', 'fields', 'errors', 'operations', 'descriptions'] as const;
export type Area = keyof Texts | (typeof TERMS)[number];

/** The areas that every page has. */
const FIRST: readonly Area[] = ['ui', 'account', 'home', 'errors'];
/** Those of views that are made of the server's document. */
export const RECORDS: readonly Area[] = ['records', 'words', 'fields', 'operations', 'descriptions'];
const KEYS = { language: 'tandem.language', zone: 'tandem.zone' } as const;

const FILES = import.meta.glob<{ texts: object }>(['./*/*.ts', '!./en/{ui,account,home}.ts']);

const known = (name: string | null): name is Language => name !== null && Object.hasOwn(LANGUAGES, name);
const spoken = () => navigator.languages.map((name) => name.slice(0, 2)).find(known);

let language: Language = 'en';
/** These are there from the start, to say even that nothing is to be had. */
const ENGLISH: Partial<Record<Area, object>> = { ui, account, home };
let texts = ENGLISH;
let translate = translator();
let terms: Terms = {};
const wanted = new Set<Area>(FIRST);
const listeners = new Set<() => void>();

/** The language with the reader's region, as `Intl` takes it. */
function localeOf(of: Language): string {
  return navigator.languages.find((name) => name.slice(0, 2) === of) ?? of;
}

function translator() {
  return createTranslator({ locale: localeOf(language), messages: texts as unknown as Texts });
}
type Translator = ReturnType<typeof translator>;

async function loadFile(of: Language, name: Area): Promise<object | undefined> {
  return (of === 'en' ? ENGLISH[name] : undefined) ?? (await FILES[`./${of}/${name}.ts`]?.())?.texts;
}

/** The texts of each area; those that a language does not have in English. */
async function loadAreas(of: Language, areas: readonly Area[]): Promise<Partial<Record<Area, object>>> {
  const load = async (area: Area) => (await loadFile(of, area)) ?? (await loadFile('en', area));
  return Object.fromEntries(await Promise.all(areas.map(async (area) => [area, await load(area)] as const)));
}

const loadMissing = (areas: readonly Area[]) =>
  loadAreas(
    language,
    areas.filter((area) => texts[area] === undefined),
  );

type Call = (...given: unknown[]) => never;
const call = (given: unknown) => given as Call;
/** A text of the reader's language: `t('ui.save')`. */
export const t = ((...given: unknown[]) => call(translate)(...given)) as unknown as Translator;
// with elements in it: `t.rich('chat.bans.ends', { time: put(<Time at={until} />) })`
t.rich = (...given: unknown[]) => call(translate.rich)(...given);

/** An element for a place in a text: `<time></time>`. */
export const put = (element: ReactNode) => (): ReactNode => element;

/** A word of the server's document in the reader's language; undefined where that is the document's, or has no such word. */
export const term = (kind: string, name: string): string | undefined => {
  const words = terms[kind];
  return words && Object.hasOwn(words, name) ? words[name] : undefined;
};

/** What is wrong with an input, as the server says it, in the reader's language; undefined where that has no such sentence. */
export const problem = (said: string) => problemIn(terms['problems'] ?? {}, said, (name) => term('fields', name));

/** The reader's language, and its name with a region for `Intl`. */
export const readerLanguage = (): Language => language;
export const readerLocale = (): string => localeOf(language);

let zone: string | undefined;
/** The chosen time zone; null for that of the browser. */
export function chosenZone(): string | null {
  const kept = localStorage.getItem(KEYS.zone);
  return kept !== null && Intl.supportedValuesOf('timeZone').concat('UTC').includes(kept) ? kept : null;
}
/** The reader's time zone: the chosen one, else the browser's. */
export function readerZone(): string {
  return (zone ??= chosenZone() ?? new Intl.DateTimeFormat().resolvedOptions().timeZone);
}

/** Loads the texts of an area beside its view: `withTexts(['chat'], () => import('./chat/chat-route.js'))`. */
export const withTexts =
  <View>(areas: readonly Area[], load: () => Promise<View>): (() => Promise<View>) =>
  async () => {
    for (const area of areas) wanted.add(area);
    const view = load();
    let [of, loaded] = [language, await loadMissing(areas)];
    // the reader may have turned to another language meanwhile
    while (of !== language) [of, loaded] = [language, await loadMissing(areas)];
    use({ ...texts, ...loaded });
    return view;
  };

function use(loaded: Partial<Record<Area, object>>): void {
  texts = loaded;
  terms = Object.assign({}, ...TERMS.map((area) => texts[area])) as Terms;
  translate = translator();
}

async function turnTo(next: Language): Promise<void> {
  let loaded: Partial<Record<Area, object>> = {};
  // a view may come meanwhile
  for (let known = 0; known < wanted.size;) {
    known = wanted.size;
    loaded = await loadAreas(next, [...wanted]);
  }
  language = next;
  use(loaded);
  document.documentElement.lang = next;
}

/** Loads the texts of the reader's language: the chosen one, else the first of the browser's that there is. */
export async function startTexts(): Promise<void> {
  const chosen = localStorage.getItem(KEYS.language);
  await turnTo(known(chosen) ? chosen : (spoken() ?? 'en'));
}

function tell(): void {
  for (const listener of listeners) listener();
}

/** Keeps the reader's choice, and shows everything in that language. */
export async function chooseLanguage(chosen: Language): Promise<void> {
  await turnTo(chosen);
  localStorage.setItem(KEYS.language, chosen);
  tell();
}

/** Keeps the reader's choice; null is the browser's zone. */
export function chooseZone(chosen: string | null): void {
  if (chosen === null) localStorage.removeItem(KEYS.zone);
  else localStorage.setItem(KEYS.zone, chosen);
  zone = undefined;
  tell();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Changes with the language and the zone: the key of what is to be drawn anew then. */
export const useReader = (): string => useSyncExternalStore(subscribe, () => `${language} ${readerZone()}`);
