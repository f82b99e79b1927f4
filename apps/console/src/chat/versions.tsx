import type { ChatMessage } from '@tandem/client';
import { rowsOf, queryOf } from '@tandem/client';
import { useQuery } from '@tanstack/react-query';
import { useSession } from '../session/session.js';
import { Loading } from '../ui/notices.js';
import { Popup } from '../ui/popup.js';
import { QueryFailure } from '../ui/query-failure.js';
import { Time } from '../ui/time.js';
import { t } from '../texts/texts.js';

/** Marks a message that was changed, and shows what it said before. */
export function Edited({ message }: { message: ChatMessage }) {
  return (
    <Popup kind="dialog" label={t('chat.message.versions')} button={t('chat.message.edited')} className="link edited">
      {() => <Versions message={message} />}
    </Popup>
  );
}

function Versions({ message: { id: messageId, updatedAt } }: { message: ChatMessage }) {
  const { client } = useSession();
  const versions = useQuery({
    queryKey: ['versions', messageId, updatedAt],
    queryFn: async () => {
      const { parameters } = queryOf('chat.listMessageVersions').top(50);
      return rowsOf(await client.api.chat.listMessageVersions.query({ messageId, ...parameters }), parameters).value;
    },
  });
  const { data } = versions;
  return (
    <section className="versions" aria-label={t('chat.message.versions')}>
      <h2>{t('chat.message.versions')}</h2>
      <QueryFailure of={[versions]} />
      {!data && !versions.error && <Loading what={t('chat.loading.versions')} />}
      {data?.length === 0 && <p className="hint">{t('chat.message.onlyFiles')}</p>}
      <ol>
        {data?.map(({ at, content }) => (
          <li key={at}>
            <Time at={at} />
            <p className="message-body">{content}</p>
          </li>
        ))}
      </ol>
    </section>
  );
}
