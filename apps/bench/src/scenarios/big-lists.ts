import { withSearch } from '@tandem/storage';
import { connect } from '../connection.js';
import { enrol } from '../crowds.js';
import { openChannel } from '../channels.js';
import type { MeasuredProcess } from '../measured-process.js';
import type { Somebody } from '../people.js';
import { insert, record, type Stored } from '../rows.js';
import type { Scenario, Stage } from '../scenario.js';
import type { TimeComparison } from '../times.js';

const FEW = 1000;
const MANY = 1_000_000;
/** Rows written and forgotten at once. */
const BATCH = 20_000;
/** Rows with the same value, in both: what a filter or a search finds. */
const ALIKE = 20;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const WORD_LETTERS = 8;
const MIXER = 0x9e_37_79_b1;

/** A word of its own for each number, alike for none: an index of beginnings is as useful as for words of a language. */
function wordOf(number: number): string {
  let state = Math.imul(number + 1, MIXER) >>> 0;
  return Array.from({ length: WORD_LETTERS }, () => {
    const letter = LETTERS[state % LETTERS.length];
    state = (Math.imul(state ^ (state >>> 15), MIXER) + number) >>> 0;
    return letter;
  }).join('');
}

/** An id as records have them, the same for each number. */
const idOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

/** What rows belong to, and who asks for them. */
interface Owner {
  id: string;
  channelId: string;
}

interface BigList {
  name: string;
  collection: string;
  /** A row; `of` numbers those that are alike. */
  row(at: number, of: number, owner: Owner): Record<string, unknown>;
  searched?: readonly string[];
  path(owner: Owner): string;
  /** What is asked of the list, as parameters. */
  filter: string;
  search?: string;
  apply: string;
}

const WORD = wordOf(7);
const PERSON = idOf(7);

const LISTS: readonly BigList[] = [
  {
    name: 'messages of a channel',
    collection: 'messages',
    searched: ['title', 'content'],
    row: (at, of, { channelId }) => ({
      channelId,
      seq: at + 1,
      change: at + 1_000_000,
      senderId: idOf(of),
      content: `${wordOf(of)} ${at}`,
      title: null,
      clientId: null,
    }),
    path: ({ channelId }) => `/messages?channelId=${channelId}`,
    filter: `senderId eq '${PERSON}'`,
    search: WORD,
    apply: `filter(senderId eq '${PERSON}') then groupby((title), aggregate($count as n))`,
  },
  {
    name: 'products',
    collection: 'products',
    searched: ['name', 'description'],
    row: (at, of) => ({ name: `${wordOf(of)} ${at}`, description: '', organizationId: idOf(of) }),
    path: () => '/products',
    filter: `organizationId eq '${PERSON}'`,
    search: WORD,
    apply: `filter(organizationId eq '${PERSON}') then groupby((name), aggregate($count as n))`,
  },
  {
    name: 'notifications',
    collection: 'notifications',
    row: (at, of, { id: receiverId }) => ({ receiverId, isRead: of !== 7, title: `Notification ${at}` }),
    path: ({ id }) => `/notifications/identities/${id}`,
    filter: 'isRead eq false',
    apply: 'filter(isRead eq false) then aggregate($count as n)',
  },
  {
    name: 'identities',
    collection: 'identities',
    searched: ['email'],
    row: (at, of) => ({ email: `${wordOf(of)}.${at}@example.org`, emailVerified: true, typeId: 'regular', locked: of === 7 }),
    path: () => '/identities',
    filter: 'locked eq true',
    search: WORD,
    apply: 'filter(locked eq true) then groupby((typeId), aggregate($count as n))',
  },
  {
    name: 'orders',
    collection: 'orders',
    row: (at, of) => ({
      identityId: idOf(of),
      organizationId: null,
      currency: 'EUR',
      items: [],
      subtotal: at,
      tax: 0,
      total: at,
      shown: { subtotal: at / 100, tax: 0, total: at / 100 },
      status: 'pending',
      history: [],
    }),
    path: () => '/orders',
    filter: `identityId eq '${PERSON}'`,
    apply: `filter(identityId eq '${PERSON}') then groupby((status), aggregate(total with sum as sum))`,
  },
  {
    name: 'security events',
    collection: 'securityEvents',
    row: (_at, of) => ({
      type: 'login.succeeded',
      identityId: idOf(of),
      actorId: idOf(of),
      sessionId: null,
      ip: '127.0.0.1',
      userAgent: '',
      requestId: null,
      details: {},
      expiresAt: new Date(Date.now() + 86_400_000),
    }),
    path: () => '/auth/events',
    filter: `identityId eq '${PERSON}'`,
    apply: `filter(identityId eq '${PERSON}') then groupby((type), aggregate($count as n))`,
  },
];

/** A server with a number of rows in a list, and an admin to whom they are shown. */
interface Side {
  server: MeasuredProcess;
  owner: Owner & Somebody;
}

/** Fills a list of a database of its own, and starts a server with it. */
async function fill({ database, start }: Stage, list: BigList, rows: number): Promise<Side> {
  const { collection, row, searched = [] } = list;
  const { db, settings } = database(`${collection}${rows}`);
  // who owns rows is there before them; the indexes are made when all are there, which takes less time
  const first = await start('tandem-server', settings);
  const [somebody] = (await enrol(first, db, 1)) as [Somebody];
  await db.collection<Stored>('identities').updateOne({ _id: somebody.id }, { $set: { typeId: 'admin' } });
  const owner = { ...somebody, channelId: await openChannel(first.url, [somebody]) };
  await first.stop();
  await db.collection(collection).dropIndexes();
  for (let from = 0; from < rows; from += BATCH) {
    const some = Array.from({ length: Math.min(BATCH, rows - from) }, (_, offset) => {
      const at = from + offset;
      return withSearch(record(at, row(at, at % (rows / ALIKE), owner)), searched);
    });
    await insert(db, collection, some);
  }
  return { server: await start('tandem-server', settings), owner };
}

/** Reads a list, over one connection, which lasts as long as it is used. */
function reader(side: () => Promise<Side>, list: BigList, parameters: Record<string, string>) {
  let reading: Promise<() => Promise<string>> | undefined;
  async function begin() {
    const { server, owner } = await side();
    const [path, own = ''] = list.path(owner).split('?') as [string, string?];
    const query = new URLSearchParams([...new URLSearchParams(own), ...Object.entries(parameters)]).toString();
    const headers = { authorization: `Bearer ${owner.accessToken}` };
    const connection = await connect(server.url);
    return () => connection.send({ method: 'GET', path: `${path}?${query}`, headers }, 200);
  }
  return async () => (await (reading ??= begin()))();
}

/**
 * Pages, filters, searches and transformations of lists of a million rows, against the same lists of a thousand. A list is filled
 * when it is first read, so that the results of others are known before.
 */
export const bigLists: Scenario<TimeComparison[]> = (stage) => {
  const rows = stage.isQuick ? MANY / 50 : MANY;
  const comparisons = LISTS.flatMap((list) => {
    let filled: Promise<{ many: Side; few: Side }> | undefined;
    const sides = () => (filled ??= fill(stage, list, rows).then(async (many) => ({ many, few: await fill(stage, list, FEW) })));
    const asked: [string, Record<string, string>][] = [
      ['first page', {}],
      ['filter', { $filter: list.filter }],
      ...(list.search === undefined ? [] : [['search', { $search: list.search }] as [string, Record<string, string>]]),
      ['$apply', { $apply: list.apply }],
    ];
    return asked.map(([what, parameters]): TimeComparison => ({
      name: `${list.name}, ${rows.toLocaleString('en')}: ${what}`,
      of: 'time',
      target: 1.3,
      warmUpFactor: 0.2,
      against: 'the same of 1,000',
      run: reader(async () => (await sides()).many, list, parameters),
      runOther: reader(async () => (await sides()).few, list, parameters),
    }));
  });
  return Promise.resolve(comparisons);
};
