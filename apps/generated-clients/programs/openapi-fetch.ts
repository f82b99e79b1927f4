import createClient from 'openapi-fetch';
import type { Answers, Person } from './answers.js';
import type { paths } from './schema.js';

/** Calls a server by the client of openapi-typescript. */
export async function run(baseUrl: string, { email, password, fingerprint }: Person): Promise<Answers> {
  const client = createClient<paths>({ baseUrl });
  const { data: login } = await client.POST('/auth/login', { body: { email, password, fingerprint } });
  if (!login || !('accessToken' in login)) throw new Error('no token came');
  client.use({
    onRequest({ request }) {
      request.headers.set('authorization', `Bearer ${login.accessToken}`);
    },
  });
  const device = { 'x-nb-fingerprint': fingerprint };
  const path = { identityId: login.id };
  const counted = await client.GET('/notifications/identities/{identityId}/unread-count', { params: { path, header: device } });
  const without = await client.GET('/notifications/identities/{identityId}/unread-count', { params: { path } });
  const query = { $filter: "name eq 'Tea'", $orderby: 'name asc', limit: 5 };
  const listed = await client.GET('/locations', { params: { query } });
  return {
    unread: counted.data?.unread,
    withoutFingerprint: [without.response.status, without.error?.error.message],
    names: listed.data && 'data' in listed.data ? listed.data.data.map(({ name }) => name) : [],
  };
}
