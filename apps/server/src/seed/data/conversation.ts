import type { Colour, Painter } from '../drawings/canvas.js';
import type { Sign } from '../drawings/emblem.js';
import type { Who } from './people.js';

/** What may be said of a line besides. */
interface More {
  /** Names it, for lines that reply. */
  key?: string;
  replyTo?: string;
  /** Members that it mentions. */
  names?: readonly Who[];
  reactions?: Readonly<Record<string, readonly Who[]>>;
  pictures?: readonly Painter[];
  pinnedBy?: Who;
  /** What it was before it was edited. */
  before?: string;
  isDeleted?: boolean;
  report?: { by: Who; reason: string; outcome?: 'resolved' | 'dismissed' };
}

/** Something that somebody says in a channel. */
export interface Line extends More {
  by: Who;
  says: string;
}

export function line(by: Who, says: string, more: More = {}): Line {
  return { by, says, ...more };
}

/** Lines that come a few minutes apart. */
export interface Talk {
  /** Days ago that it began. */
  days: number;
  lines: readonly Line[];
}

export function talk(days: number, ...lines: readonly Line[]): Talk {
  return { days, lines };
}

/** A channel with what is said in it, oldest first. Its owner is a member too. */
export interface SeedChannel {
  name: string;
  owner: Who;
  isOpen?: boolean;
  icon: readonly [Sign, Colour];
  members: readonly Who[];
  moderators?: readonly Who[];
  talks: readonly Talk[];
  /** Days that somebody may say nothing yet, for something said before. */
  muted?: { who: Who; by: Who; days: number };
  /** Somebody who is kept out; without an end when there are no days. */
  banned?: { who: Who; by: Who; days?: number };
  /** Members who have not read everything, with how many lines they have not. */
  behind?: Partial<Record<Who, number>>;
}

/** The channel of two people. */
export interface DirectTalk {
  between: readonly [Who, Who];
  talks: readonly Talk[];
  unread: number;
}
