import type { ChatMessage } from '@tandem/client';
import { rowsOf, queryOf } from '@tandem/client';
import { useQuery } from '@tanstack/react-query';
import { useSession } from '../session/session.js';
import { Loading } from '../ui/notices.js';
import { Popup } from '../ui/popup.js';
import { QueryFailure } from '../ui/query-failure.js';
import { Time } from '../ui/time.js';

/** Marks a message that was changed, and shows what it said before. */
export function Edited({ message }: { message: ChatMessage }) {
  return (
    <Popup kind="dialog" label="Earlier texts" button="edited" className="link edited">
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
    <section className="versions" aria-label="Earlier texts">
      <h2>Earlier texts</h2>
      <QueryFailure of={[versions]} />
      {!data && !versions.error && <Loading what="earlier texts" />}
      {data?.length === 0 && <p className="hint">Its text is as it was; its files have changed.</p>}
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
