import { useMutation, useQuery } from '@tanstack/react-query';
import { useLayoutEffect, useRef, useState } from 'react';
import { Entry } from '../ui/boundary.js';
import { Button } from '../ui/button.js';
import { Empty, Failure, Loading } from '../ui/notices.js';
import { QueryFailure } from '../ui/query-failure.js';
import { useChat } from './chat.js';
import { Composer } from './composer.js';
import { repliesKey } from './message-cache.js';
import { goThroughMessages, scrollToEnd } from './message-log.js';
import { Message } from './message.js';
import { useNames } from './names.js';
import { MessageOnItsWay } from './outgoing-message.js';
import { Panel } from '../ui/panel.js';
import { useMessage } from './quote.js';
import { RoomContext, useRoom } from './room.js';
import { t } from '../texts/texts.js';

interface ThreadPanelProps {
  messageId: string;
  onClose(): void;
}

/** A message with its replies, and a composer for another. */
export function ThreadPanel({ messageId, onClose }: ThreadPanelProps) {
  const room = useRoom();
  const { channel } = room;
  const { messages: cache, outgoing } = useChat();
  const [editing, edit] = useState<string>();
  const root = useMessage(channel.id, messageId);
  const replies = useQuery({
    queryKey: repliesKey(channel.id, messageId),
    queryFn: () => cache.loadReplies(channel.id, messageId),
  });
  const earlier = useMutation({ mutationFn: () => cache.loadEarlierReplies(channel.id, messageId) });
  const { messages, nextToken } = replies.data ?? {};
  const onTheirWay = outgoing.filter(
    ({ replyToId, clientId }) => replyToId === messageId && !messages?.some((message) => message.clientId === clientId),
  );
  const all = [...(root.data ? [root.data] : []), ...(messages ?? [])];
  const personOf = useNames(
    all.flatMap(({ senderId, mentions }) => [senderId, ...mentions]),
    channel.ownerId,
  );
  // only the server knows how many there are where not all are loaded
  const count = nextToken === undefined ? messages?.length : root.data?.replyCount;
  const list = useRef<HTMLDivElement>(null);
  const newest = onTheirWay.at(-1) ?? messages?.at(-1);
  useLayoutEffect(() => {
    if (newest) scrollToEnd(list.current);
  }, [newest]);
  return (
    <RoomContext value={{ ...room, editing, edit, reply: undefined }}>
      <Panel title={t('chat.thread.title')} onClose={onClose}>
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- keys go through what is in it */}
        <div
          className="log"
          ref={list}
          role="log"
          aria-label={t('chat.thread.replies')}
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- to be scrolled
          tabIndex={0}
          onKeyDown={goThroughMessages}
        >
          {root.data === null && <Empty title={t('chat.thread.deleted')} />}
          <ol>
            {root.data && (
              <Entry of={root.data}>
                <Message message={root.data} before={undefined} personOf={personOf} />
              </Entry>
            )}
            {count !== undefined && root.data && (
              <li className="log-replies">{count === 0 ? t('chat.thread.none') : t('chat.message.replies', { count })}</li>
            )}
            {nextToken !== undefined && (
              <li>
                <Button isOff={earlier.isPending} onClick={() => earlier.mutate()}>
                  {t('chat.thread.earlier')}
                </Button>
              </li>
            )}
            {messages?.map((message, index) => (
              <Entry key={message.id} of={message}>
                <Message message={message} before={messages[index - 1]} personOf={personOf} />
              </Entry>
            ))}
            {onTheirWay.map((message) => (
              <MessageOnItsWay key={message.clientId} message={message} />
            ))}
          </ol>
          {!messages && !replies.error && root.data !== null && <Loading what={t('chat.loading.replies')} />}
          <QueryFailure of={[root, replies]} />
          <Failure of={earlier.error} />
        </div>
        {root.data && <Composer place={`${channel.id}/${messageId}`} label={t('chat.composer.reply')} replyToId={messageId} />}
      </Panel>
    </RoomContext>
  );
}
