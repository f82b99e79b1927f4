import type { Adapter, AdapterPayload } from 'oidc-provider';

/** The memory of one test OpenID Connect provider; nothing outlives the provider. */
export function createOidcMemory(): (model: string) => Adapter {
  const records = new Map<string, AdapterPayload>();
  return (model) => {
    const keyOf = (id: string) => `${model}:${id}`;
    const findBy = (matches: (payload: AdapterPayload) => boolean) =>
      [...records].find(([key, payload]) => key.startsWith(`${model}:`) && matches(payload))?.[1];
    return {
      async upsert(id, payload) {
        records.set(keyOf(id), payload);
      },
      async find(id) {
        return records.get(keyOf(id));
      },
      async findByUid(uid) {
        return findBy((payload) => payload.uid === uid);
      },
      async findByUserCode(userCode) {
        return findBy((payload) => payload.userCode === userCode);
      },
      async consume(id) {
        records.set(keyOf(id), { ...records.get(keyOf(id)), consumed: Math.floor(Date.now() / 1000) });
      },
      async destroy(id) {
        records.delete(keyOf(id));
      },
      async revokeByGrantId(grantId) {
        for (const [key, payload] of records) if (payload.grantId === grantId) records.delete(key);
      },
    };
  };
}
