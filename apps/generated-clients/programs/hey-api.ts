import type { Answers, Person } from './answers.js';
import { client } from './sdk/client.gen.js';
import { authLogin, locationsList, notificationsUnreadCount } from './sdk/index.js';

/** Calls a server by the client of @hey-api/openapi-ts. */
export async function run(baseUrl: string, { email, password, fingerprint }: Person): Promise<Answers> {
  client.setConfig({ baseUrl });
  const { data: login } = await authLogin({ body: { email, password, fingerprint } });
  if (!login || !('accessToken' in login)) throw new Error('no token came');
  client.setConfig({ auth: login.accessToken });
  const headers = { 'x-nb-fingerprint': fingerprint };
  const path = { identityId: login.id };
  const counted = await notificationsUnreadCount({ path, headers });
  const without = await notificationsUnreadCount({ path });
  const query = { $filter: "name eq 'Tea'", $orderby: 'name asc', limit: 5 };
  const listed = await locationsList({ query });
  return {
    unread: counted.data?.unread,
    withoutFingerprint: [without.response?.status, without.error?.error.message],
    names: listed.data && 'data' in listed.data ? listed.data.data.map(({ name }) => name) : [],
  };
}
