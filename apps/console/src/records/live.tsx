import { describeFailure, queryKey, queryOf, rowsOf } from '@tandem/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { createContext, use, useEffect, useEffectEvent, useMemo, type ReactNode } from 'react';
import { useMe } from '../session/me.js';
import { useSession } from '../session/session.js';
import { useDefinitions } from './definitions.js';
import { followEvents, type ToldEvent } from './event-socket.js';

/** Changes are told at most that often, in milliseconds. */
const EVERY_MS = 1000;

/** Services whose records have no page of their own. */
const SERVICES: Readonly<Record<string, string>> = {
  member: 'organizations',
  changeRequest: 'organizations',
  follow: 'profiles',
  like: 'profiles',
};

/** Others have changed these many records of a service. */
type Listener = (service: string, changes: number) => void;
const LiveContext = createContext<Set<Listener> | undefined>(undefined);

/** Follows what others change, where one may read events: admins all, owners and admins of an organization its own. */
export function LiveProvider({ children }: { children: ReactNode }) {
  const { client, accessToken } = useSession();
  const { data: me } = useMe();
  const { kindOf } = useDefinitions();
  const queries = useQueryClient();
  const { kind, id } = useParams({ strict: false }) as { kind?: string; id?: string };
  const listeners = useMemo(() => new Set<Listener>(), []);
  const asMember = useQuery({
    queryKey: [...queryKey('organizations.listOfIdentity'), 'own', me?.id],
    enabled: me?.isAdmin === false && kind === 'organizations',
    staleTime: 60_000,
    queryFn: async () => {
      const { parameters } = queryOf('organizations.listOfIdentity').top(100);
      const answer = await client.api.organizations.listOfIdentity.query({ identityId: String(me?.id), ...parameters });
      return rowsOf(answer, parameters).value.map(({ member, organization }) => [organization.id, member.role] as const);
    },
  });
  const manages = asMember.data?.some(([of, role]) => of === id && (role === 'owner' || role === 'admin')) === true;
  const organizationId = manages ? id : undefined;
  const mayRead = me?.isAdmin === true || manages;

  const tell = useEffectEvent((events: readonly ToldEvent[]) => {
    const counts = new Map<string, number>();
    for (const { subject, actor } of events) {
      if (actor?.id === me?.id) continue;
      const of = kindOf(`${subject.type}Id`);
      const service = SERVICES[subject.type] ?? of?.get.service;
      if (service === undefined) continue;
      counts.set(service, (counts.get(service) ?? 0) + 1);
      // a record that is read is small, and nothing jumps
      if (of) void queries.invalidateQueries({ queryKey: queryKey(of.get.id, { [of.param]: subject.id }) });
    }
    for (const [service, changes] of counts) for (const listener of listeners) listener(service, changes);
  });

  useEffect(() => {
    if (!mayRead) return undefined;
    let waiting: ToldEvent[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = followEvents({
      accessToken,
      organizationId,
      async prepare() {
        try {
          await client.api.events.list.query({ limit: 1, types: 'order.created', ...(organizationId && { organizationId }) });
          return true;
        } catch (error) {
          // without the right to read nothing is live; an outage ends
          return (describeFailure(error).status ?? 500) >= 500;
        }
      },
      onEvent(event) {
        waiting.push(event);
        timer ??= setTimeout(() => {
          timer = undefined;
          tell(waiting);
          waiting = [];
        }, EVERY_MS);
      },
    });
    return () => {
      clearTimeout(timer);
      end();
    };
  }, [client, accessToken, mayRead, organizationId]);

  return <LiveContext value={listeners}>{children}</LiveContext>;
}

/** Calls back when others have changed records of a service, at most once a second. */
export function useOthersChanges(service: string, onChange: (changes: number) => void): void {
  const listeners = use(LiveContext);
  const listener = useEffectEvent((changed: string, changes: number) => {
    if (changed === service) onChange(changes);
  });
  useEffect(() => {
    const added: Listener = (changed, changes) => listener(changed, changes);
    listeners?.add(added);
    return () => void listeners?.delete(added);
  }, [listeners]);
}
