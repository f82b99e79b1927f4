import { Fragment, type ReactNode } from 'react';

const LINK = /https?:\/\/[^\s<>"']*[^\s<>"'.,:;!?)\]}]/.source;

interface MessageTextProps {
  text: string;
  /** What the text may call the people that it names, after an `@`. */
  handles: readonly string[];
  /** That of the reader, whose mentions stand out. */
  own: string;
}

/** A text with its links, and the people that it names. */
export function MessageText({ text, handles, own }: MessageTextProps) {
  const parts: ReactNode[] = [];
  let end = 0;
  for (const { 0: found, 1: link, index } of text.matchAll(patternOf(handles))) {
    parts.push(text.slice(end, index), link === undefined ? mentionOf(found, own) : linkTo(found));
    end = index + found.length;
  }
  parts.push(text.slice(end));
  // oxlint-disable-next-line react/no-array-index-key -- they never move
  return parts.map((part, at) => <Fragment key={at}>{part}</Fragment>);
}

/** Which of these people a text names, by what it calls them. */
export function namedIn(text: string, handles: readonly string[]): ReadonlySet<string> {
  const found = [...text.matchAll(patternOf(handles))];
  return new Set(found.flatMap(([name, link]) => (link === undefined ? name.slice(1) : [])));
}

/** Finds links, and the people that are named. */
function patternOf(handles: readonly string[]): RegExp {
  // the longest first: one name may begin with another
  const names = handles.toSorted((one, other) => other.length - one.length).map((name) => escaped(name));
  const mention = names.length > 0 ? `@(?:${names.join('|')})(?![\\p{L}\\p{N}])` : '(?!)';
  return new RegExp(`(${LINK})|(${mention})`, 'gu');
}

const mentionOf = (text: string, own: string) => (
  <span className={text === `@${own}` ? 'mention mention-own' : 'mention'}>{text}</span>
);
const linkTo = (address: string) => (
  <a href={address} target="_blank" rel="noreferrer">
    {address}
  </a>
);

function escaped(name: string): string {
  return name.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}
