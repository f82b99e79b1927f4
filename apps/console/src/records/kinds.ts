import type { Definitions, Kind, RecordList } from './definitions.js';
import { labelOf } from './words.js';
import { term } from '../texts/texts.js';

/** How a kind of record is shown, where that is better than what its definition says. */
interface Look {
  /** The columns of its table; a path reads a part: `price.amount`. */
  columns?: readonly string[];
  /** The field whose file is its picture. */
  picture?: string;
  /** Names of fields that say more than the field's own. */
  labels?: Readonly<Record<string, string>>;
}

export const LOOKS: Readonly<Record<string, Look>> = {
  orders: {
    columns: ['id', 'status', 'identityId', 'organizationId', 'total', 'createdAt'],
    labels: { id: 'Order', identityId: 'Buyer', organizationId: 'Seller' },
  },
  products: { picture: 'images', columns: ['name', 'price', 'organizationId', 'categoryIds', 'updatedAt'] },
  variants: { columns: ['title', 'sku', 'price', 'updatedAt'] },
  categories: { columns: ['name', 'parent', 'status', 'description'] },
  attributes: { columns: ['name', 'items', 'updatedAt'] },
  organizations: {
    picture: 'logo',
    columns: ['name', 'branchName', 'typeId', 'parentId', 'auditStatus', 'contact_email', 'createdAt'],
  },
  invitations: { columns: ['email', 'status', 'role', 'organizationId', 'fromIdentityId', 'expiresAt'] },
  identities: { columns: ['email', 'typeId', 'emailVerified', 'locked', 'deactivatedAt', 'createdAt'] },
  profiles: { picture: 'avatar', columns: ['name', 'identityId', 'updatedAt'] },
  locations: { columns: ['name', 'code', 'type', 'parentId', 'updatedAt'] },
  channels: { picture: 'icon', columns: ['name', 'ownerId', 'open', 'direct', 'lastSeq', 'createdAt'] },
  'message-templates': { columns: ['title', 'content', 'organizationId', 'updatedAt'] },
  reports: { columns: ['content', 'reason', 'status', 'senderId', 'reporterId', 'channelId', 'createdAt'] },
  webhooks: { columns: ['url', 'types', 'organizationId', 'disabledAt', 'createdAt'] },
};

/** What a field of a kind is called. */
export const labelIn = (kind: Kind | undefined, field: string): string =>
  term('fields', `${kind?.name}.${field}`) ?? (kind && LOOKS[kind.name]?.labels?.[field]) ?? labelOf(field);

/** Whether somebody may call what only admins may. The server decides; what it would refuse anyway is not offered. */
export function isOffered(who: readonly string[], isAdmin: boolean, self?: boolean): boolean {
  return who.every((condition) => {
    if (condition === 'an admin') return isAdmin;
    if (condition === 'the identity that identityId names') return self !== false;
    return true;
  });
}

interface Place {
  list: RecordList;
  /** What the list needs: whose records. */
  input: Record<string, string>;
}

/** The list of a kind that somebody reads: all records for admins, else their own. */
export function placeOf(kind: Kind, { lists }: Definitions, me: { id: string; isAdmin: boolean }): Place | undefined {
  const { list } = kind;
  if (kind.parents.length > 0) return undefined;
  if (list && me.isAdmin) return { list, input: {} };
  const own = lists.find(
    ({ operation, schema, row, params }) =>
      operation.method === 'GET' &&
      params.join() === 'identityId' &&
      (schema === kind.schema || `/${kind.name}/members/{identityId}` === operation.path) &&
      row.properties !== undefined,
  );
  if (own) return { list: own, input: { identityId: me.id } };
  if (!list || !isOffered(list.operation.who, me.isAdmin)) return undefined;
  const [who = ''] = list.operation.who;
  if (who.includes('identityId names') && list.narrowing.includes('identityId')) return { list, input: { identityId: me.id } };
  // of an organization or a channel: shown there
  return /of the|asks for/.test(who) ? undefined : { list, input: {} };
}
