import { describeFailure, queryKey, queryOf, rowsOf, type QueryKey } from '@tandem/client';
import { useQuery, useQueryClient, type Query } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { createContext, use, useEffect, useEffectEvent, useMemo, type ReactNode } from 'react';
import { useMe } from '../session/me.js';
import { useIdentityId, useSession } from '../session/session.js';
import { tabs } from '../session/tabs.js';
import { isOfRows } from './call.js';
import { useDefinitions } from './definitions.js';
import type { ToldEvent } from './event-pages.js';
import { followEvents } from './event-socket.js';

/** Changes are told at most that often, in milliseconds. */
const EVERY_MS = 1000;

/** Services whose records have no page of their own. */
const SERVICES: Readonly<Record<string, string>> = {
  member: 'organizations',
  changeRequest: 'organizations',
  ban: 'chat',
};

/** Others, or another tab, have changed these many records of a service; of any, where it is undefined. */
type Listener = (service: string | undefined, changes: number) => void;
const LiveContext = createContext<Set<Listener> | undefined>(undefined);

interface Told {
  /** Undefined where it may be any. */
  service: string | undefined;
  /** The key of what is read of it, lists apart. */
  reads: QueryKey | undefined;
}

/** Handles what is added, at most once a second. */
function together<One>(handle: (all: readonly One[]) => void) {
  let waiting: One[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    add(one: One): void {
      waiting.push(one);
      timer ??= setTimeout(() => {
        timer = undefined;
        handle(waiting);
        waiting = [];
      }, EVERY_MS);
    },
    end: () => clearTimeout(timer),
  };
}

/**
 * Follows what others change, where one may read events: admins all, owners and admins of an organization its own; and
 * what the person changes in other tabs.
 */
export function LiveProvider({ children }: { children: ReactNode }) {
  const { client, accessToken } = useSession();
  const identityId = useIdentityId();
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

  const tell = useEffectEvent((changes: readonly Told[]) => {
    const counts = new Map<string | undefined, number>();
    for (const { service, reads } of changes) {
      counts.set(service, (counts.get(service) ?? 0) + 1);
      // what is read of a record is small, and nothing jumps
      if (reads) void queries.invalidateQueries({ queryKey: reads, predicate: (query) => !isOfRows(query.queryKey) });
      // lists that are not shown are loaded again when they are
      const rows = {
        queryKey: queryKey(service),
        type: 'inactive',
        predicate: ({ queryKey: key }: Query) => isOfRows(key),
      } as const;
      void queries.invalidateQueries({ ...rows, refetchType: 'none' });
    }
    for (const [service, number] of counts) for (const listener of listeners) listener(service, number);
  });
  const toldBy = useEffectEvent(({ subject, actor }: ToldEvent): Told | undefined => {
    // one's own: by the tab that has made it
    if (actor?.id === me?.id) return undefined;
    const of = kindOf(`${subject.type}Id`);
    const service = SERVICES[subject.type] ?? of?.get.service;
    return service === undefined ? undefined : { service, reads: of && queryKey(of.get.id, { [of.param]: subject.id }) };
  });

  useEffect(() => {
    const changes = together((all: readonly Told[]) => tell(all));
    const lastKey = ['last-event', organizationId];
    const endTabs = tabs.watch(identityId, (service) => changes.add({ service, reads: queryKey(service) }));
    const endEvents = mayRead
      ? followEvents({
          accessToken,
          organizationId,
          // each view follows anew, and goes on where the one before has ended
          since: queries.getQueryData<string>(lastKey),
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
            queries.setQueryData(lastKey, event.id);
            const told = toldBy(event);
            if (told) changes.add(told);
          },
          onMissed: () => changes.add({ service: undefined, reads: [] }),
        })
      : undefined;
    return () => {
      changes.end();
      endTabs();
      endEvents?.();
    };
  }, [client, queries, accessToken, identityId, mayRead, organizationId]);

  return <LiveContext value={listeners}>{children}</LiveContext>;
}

/** Loads what is shown of a service anew when others, or another tab, have changed its records. */
export function useLoadOthersChanges(service: string): void {
  const queries = useQueryClient();
  useOthersChanges(service, () => void queries.invalidateQueries({ queryKey: queryKey(service) }));
}

/** Calls back when others, or another tab, have changed records of a service, at most once a second. */
export function useOthersChanges(service: string, onChange: (changes: number) => void): void {
  const listeners = use(LiveContext);
  const listener = useEffectEvent((changed: string | undefined, changes: number) => {
    if (changed === undefined || changed === service) onChange(changes);
  });
  useEffect(() => {
    const added: Listener = (changed, changes) => listener(changed, changes);
    listeners?.add(added);
    return () => void listeners?.delete(added);
  }, [listeners]);
}
