import { newEmail, type Face, type Person, type TestServer } from '@tandem/testing';
import { valueOf } from './chat-world.js';

export type Input = Record<string, unknown>;
export type Shown = Input & { id: string; metadata: Input; updatedAt: string };

/** A kind of records with metadata: how one is made, by whom, and asked for. */
export interface RecordKind {
  person: Person;
  procedures: Record<'create' | 'get' | 'patch' | 'list' | 'delete' | 'restore', string>;
  id: string;
  /** What one is made of. */
  input(face: Face): Input | Promise<Input>;
  /** The input with more fields of the record. */
  put?: (input: Input, fields: Input) => Input;
  /** What names the record in calls besides its id, and limits its list. */
  within?: (input: Input) => Input;
  listed?: (input: Input) => Input;
  /** Beside metadata in one change. */
  other: Input;
}

export async function made(face: Face, person: Person, procedure: string, input: Input): Promise<Shown> {
  return valueOf(await person.call(face, procedure, input)) as Shown;
}

/** Makes a record; resolves to it, to what names it in calls, and to what its list needs. */
export async function makeRecord(
  face: Face,
  { person, procedures, id, input: given, put, within, listed }: RecordKind,
  fields: Input = {},
): Promise<{ record: Shown; named: Input; listed: Input }> {
  const input = await given(face);
  const record = await made(face, person, procedures.create, put ? put(input, fields) : { ...input, ...fields });
  return { record, named: { ...within?.(input), [id]: record.id }, listed: listed?.(input) ?? {} };
}

const usual = (service: string) => namesOf((verb) => `${service}.${verb}`);
const ofChat = (one: string) => ({ ...namesOf((verb) => `chat.${verb}${one}`), list: `chat.list${one}s` });
export function namesOf(name: (verb: string) => string): RecordKind['procedures'] {
  const verbs = ['create', 'get', 'patch', 'list', 'delete', 'restore'];
  return Object.fromEntries(verbs.map((verb) => [verb, name(verb)])) as RecordKind['procedures'];
}

/** All kinds of records with metadata, by the name of their collection. */
export function recordKinds(app: TestServer, admin: Person, ann: Person) {
  const tea = { name: 'Tea', description: '' };
  const product = async (face: Face) => ({ productId: (await made(face, admin, 'products.create', tea)).id });
  const ofProduct = ({ productId }: Input) => ({ productId });
  return {
    categories: {
      person: admin,
      procedures: usual('categories'),
      id: 'categoryId',
      input: () => tea,
      other: { parent: null },
    },
    channels: {
      person: ann,
      procedures: ofChat('Channel'),
      id: 'channelId',
      input: () => ({ name: 'Tea', ownerId: ann.id }),
      listed: () => ({ memberId: ann.id }),
      other: { open: true },
    },
    identities: {
      person: admin,
      // nobody gives fields of an identity when it signs up
      procedures: { ...usual('identities'), create: 'identities.patch' },
      id: 'identityId',
      input: async () => ({ identityId: (await app.signUp()).id, emailVerified: true }),
      get other() {
        return { email: newEmail() };
      },
    },
    locations: {
      person: admin,
      procedures: usual('locations'),
      id: 'locationId',
      input: () => ({ name: 'Tea', code: '', type: 'CITY' }),
      other: { parentId: null },
    },
    messages: {
      person: ann,
      procedures: ofChat('Message'),
      id: 'messageId',
      async input(face: Face) {
        const { id: channelId } = await made(face, ann, 'chat.createChannel', { name: 'Tea', ownerId: ann.id });
        return { channelId, senderId: ann.id, content: 'Tea?' };
      },
      listed: ({ channelId }: Input) => ({ channelId }),
      other: { title: 'Tea' },
    },
    orders: {
      person: admin,
      procedures: usual('orders'),
      id: 'orderId',
      async input(face: Face) {
        return { identityId: admin.id, currency: 'USD', items: [{ ...(await product(face)), quantity: 1, price: 1 }] };
      },
      other: { status: 'confirmed' },
    },
    organizations: {
      person: admin,
      procedures: { ...usual('organizations'), patch: 'organizations.patchAsAdmin' },
      id: 'organizationId',
      input: () => ({ organization: { ...tea, name: crypto.randomUUID(), contact_email: newEmail() } }),
      put: ({ organization }: Input, fields: Input) => ({ organization: { ...(organization as Input), ...fields } }),
      other: { branchName: 'Tea' },
    },
    productVariants: {
      person: admin,
      procedures: usual('productVariants'),
      id: 'productVariantId',
      input: async (face: Face) => ({ ...(await product(face)), title: 'Tea' }),
      within: ofProduct,
      listed: ofProduct,
      other: { sku: 'T' },
    },
    products: {
      person: admin,
      procedures: usual('products'),
      id: 'productId',
      input: () => tea,
      other: { price: { amount: 1, currency: 'USD' } },
    },
    profiles: {
      person: ann,
      procedures: { ...usual('profiles'), list: 'profiles.listOfIdentity' },
      id: 'profileId',
      input: () => ({ identityId: ann.id, name: 'Ann' }),
      listed: () => ({ identityId: ann.id }),
      other: { avatar: null },
    },
  } satisfies Record<string, RecordKind>;
}
