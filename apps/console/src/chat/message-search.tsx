import { queryOf, rowsOf, type ChannelSummary } from '@tandem/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useDeferredValue, useState, type ReactNode } from 'react';
import { useIdentityId, useSession } from '../session/session.js';
import { Field } from '../ui/field.js';
import { Loading } from '../ui/notices.js';
import { QueryFailure } from '../ui/query-failure.js';
import { Time } from '../ui/time.js';
import { wordsOf } from '../ui/words.js';
import { useChat } from './chat.js';
import { useChannelName } from './names.js';
import { t } from '../texts/texts.js';

const SHOWN = 20;

/** A search in the messages of all channels of the user; what it finds replaces the channels meanwhile. */
export function MessageSearch({ children }: { children: ReactNode }) {
  const { client } = useSession();
  const self = useIdentityId();
  const [typed, setTyped] = useState('');
  const text = useDeferredValue(wordsOf(typed));
  const found = useQuery({
    queryKey: ['message-search', text],
    enabled: text !== '',
    placeholderData: keepPreviousData,
    // new messages come all the time
    staleTime: 0,
    queryFn: async () => {
      const { parameters } = queryOf('chat.listMessages').search(text).expand('sender', 'channel').top(SHOWN);
      return rowsOf(await client.api.chat.listMessages.query(parameters), parameters);
    },
  });
  const { data } = found;
  return (
    <>
      <search>
        <Field
          label={t('chat.search.label')}
          type="search"
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
          autoComplete="off"
        />
      </search>
      {text === '' ? (
        children
      ) : (
        <>
          <QueryFailure of={[found]} />
          {!data && !found.error && <Loading what={t('chat.loading.messages')} />}
          {data && <p className="hint">{countText(data.total, data.value.length)}</p>}
          <ul className="found" aria-label={t('chat.search.found')}>
            {data?.value.map(({ id, channelId, seq, content, createdAt, senderId, sender, channel }) => (
              <li key={id}>
                <Link to={`/chat/${channelId}`} search={{ at: String(seq) }} className="channel">
                  <span className="channel-name">
                    <NameOf channelId={channelId} name={channel?.name ?? t('chat.channel')} />
                  </span>
                  <span className="channel-last">
                    {t('chat.search.from', {
                      name: senderId === self ? t('ui.people.you') : (sender?.name ?? t('chat.member')),
                      content,
                    })}
                  </span>
                  <Time at={createdAt} length="narrow" />
                </Link>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

/** What a channel is called, if it is among the user's own. */
function NameOf({ channelId, name }: { channelId: string; name: string }) {
  const channel = useChat().channels?.find(({ id }) => id === channelId);
  return channel ? <NameOfOwn channel={channel} /> : name;
}
const NameOfOwn = ({ channel }: { channel: ChannelSummary }) => useChannelName(channel);

function countText(total: number, shown: number): string {
  if (total === 0) return t('chat.search.none');
  if (total > shown) return t('chat.search.best', { shown, total });
  return t('chat.search.count', { total });
}
