import { queryOf, rowsOf } from '@tandem/client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useSession } from '../session/session.js';
import { Avatar } from '../ui/avatar.js';
import { Button } from '../ui/button.js';
import { Failure } from '../ui/notices.js';
import { QueryFailure } from '../ui/query-failure.js';
import { Time } from '../ui/time.js';
import { useNames } from './names.js';
import { useRoom } from './room.js';
import { put, t } from '../texts/texts.js';

const MANY = 100;

export const bansKey = (channelId: string) => ['bans', channelId] as const;

/** Who is kept out of a channel; nothing where nobody is. */
export function Bans() {
  const { client } = useSession();
  const { chat } = client.api;
  const { channel } = useRoom();
  const { id: channelId } = channel;
  const loading = useQuery({
    queryKey: bansKey(channelId),
    queryFn: async () => {
      const { parameters } = queryOf('chat.listBans').top(MANY);
      return rowsOf(await chat.listBans.query({ channelId, ...parameters }), parameters).value;
    },
  });
  const lifting = useMutation({
    mutationFn: (identityId: string) => chat.deleteBan.mutate({ channelId, identityId }),
    onSettled: () => loading.refetch(),
  });
  const { data: bans = [] } = loading;
  const personOf = useNames(
    bans.map(({ identityId }) => identityId),
    channel.ownerId,
  );
  if (bans.length === 0) return <QueryFailure of={[loading]} />;
  return (
    <section className="panel-section" aria-label={t('chat.bans.title')}>
      <h3>{t('chat.bans.title')}</h3>
      <Failure of={lifting.error} />
      <ul className="people">
        {bans.map(({ identityId, until }) => {
          const { name, avatarUrl } = personOf(identityId);
          return (
            <li key={identityId} className="person">
              <Avatar of={identityId} name={name} url={avatarUrl} />
              <span className="person-name">
                {name}
                <span className="hint">
                  {until === null ? t('chat.bans.forGood') : t.rich('chat.bans.ends', { time: put(<Time at={until} />) })}
                </span>
              </span>
              <Button
                aria-label={t('chat.bans.liftOne', { name })}
                isOff={lifting.isPending}
                onClick={() => lifting.mutate(identityId)}
              >
                {t('chat.bans.lift')}
              </Button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
