import { useChannel, useChannels, useSession, useTandemMutation } from '@tandem/react';
import { useEffect, useEffectEvent, useLayoutEffect, useRef, type FormEvent, type KeyboardEvent } from 'react';
import { Failure } from './failure.js';

/** The channels, and the messages of one of them. */
export function Chat({ channelId }: { channelId: string | undefined }) {
  const { channels, error } = useChannels();
  const channel = channels?.find(({ id }) => id === channelId);
  return (
    <main className="chat">
      <section aria-label="Channels">
        <h1>Channels</h1>
        <NewChannel />
        <Failure of={error} />
        {channels?.length === 0 && <p>None yet. Create one, and send its address to others.</p>}
        <ul className="channels">
          {channels?.map(({ id, name, unread, lastMessage }) => (
            <li key={id}>
              <a href={`#/chat/${id}`} aria-current={id === channelId ? 'page' : undefined}>
                <strong>{name}</strong>
                {unread > 0 && <span className="badge">{unread}</span>}
                <span className="last">{lastMessage?.content ?? 'No messages yet'}</span>
              </a>
            </li>
          ))}
        </ul>
      </section>
      {channel && <Conversation key={channel.id} channelId={channel.id} name={channel.name} />}
      {!channel && channels && channelId && <Join channelId={channelId} />}
      {!channel && !channelId && <p className="empty">Choose a channel, or create one.</p>}
    </main>
  );
}

function NewChannel() {
  const { identityId = '' } = useSession();
  const { refetch } = useChannels();
  const creating = useTandemMutation('chat.createChannel', {
    async onSuccess({ id }) {
      await refetch();
      location.hash = `#/chat/${id}`;
    },
  });
  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const name = new FormData(event.currentTarget).get('name') as string;
    event.currentTarget.reset();
    // anybody who knows the address may join
    creating.mutate({ name, ownerId: identityId, open: true });
  }
  return (
    <form className="line" onSubmit={submit}>
      <input name="name" aria-label="Name of a new channel" placeholder="New channel" required maxLength={200} />
      <button type="submit" disabled={creating.isPending}>
        Create
      </button>
      <Failure of={creating.error} />
    </form>
  );
}

function Join({ channelId }: { channelId: string }) {
  const { identityId = '' } = useSession();
  const { refetch } = useChannels();
  const joining = useTandemMutation('chat.createSubscription', { onSuccess: refetch });
  return (
    <div className="empty">
      <p>You are not in this channel.</p>
      <Failure of={joining.error} />
      <button
        type="button"
        className="primary"
        disabled={joining.isPending}
        onClick={() => joining.mutate({ channelId, subscribedId: identityId })}
      >
        Join
      </button>
    </div>
  );
}

function Conversation({ channelId, name }: { channelId: string; name: string }) {
  const { identityId } = useSession();
  const channel = useChannel(channelId);
  const { messages, pending, typing, hasEarlier, isLive } = channel;
  const last = messages?.at(-1)?.id;
  const log = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (log.current) log.current.scrollTop = log.current.scrollHeight;
  }, [last, pending.length]);
  const onSeen = useEffectEvent(channel.markRead);
  useEffect(() => {
    if (last !== undefined && isLive) onSeen();
  }, [last, isLive]);

  return (
    <section className="conversation" aria-label={name}>
      <h2>
        {name} {!isLive && <small>connecting…</small>}
      </h2>
      <div className="log" role="log" ref={log}>
        {hasEarlier && (
          <button type="button" disabled={channel.isLoadingEarlier} onClick={() => void channel.loadEarlier()}>
            Show earlier messages
          </button>
        )}
        <ol>
          {messages?.map(({ id, senderId, content }) => (
            <li key={id} className={senderId === identityId ? 'own' : undefined}>
              {content}
            </li>
          ))}
          {pending.map(({ clientId, content, failure, retry, discard }) => (
            <li key={clientId} className="own pending">
              {content}
              {failure && (
                <span>
                  <Failure of={failure} />
                  <button type="button" onClick={retry}>
                    Send again
                  </button>
                  <button type="button" onClick={discard}>
                    Discard
                  </button>
                </span>
              )}
            </li>
          ))}
        </ol>
      </div>
      <p className="typing" aria-live="polite">
        {typing.length > 0 && 'Somebody is typing…'}
      </p>
      <Failure of={channel.error} />
      <Composer send={channel.send} sayTyping={channel.sayTyping} />
    </section>
  );
}

interface ComposerProps {
  send(content: string): void;
  sayTyping(): void;
}

/** Sends with Enter; Shift and Enter begin a new line. */
function Composer({ send, sayTyping }: ComposerProps) {
  const form = useRef<HTMLFormElement>(null);
  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const content = (new FormData(event.currentTarget).get('content') as string).trim();
    if (content === '') return;
    send(content);
    event.currentTarget.reset();
  }
  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    form.current?.requestSubmit();
  }
  return (
    <form className="line" ref={form} onSubmit={submit}>
      <textarea
        name="content"
        aria-label="Message"
        placeholder="Write a message"
        rows={1}
        maxLength={10_000}
        onChange={sayTyping}
        onKeyDown={onKeyDown}
      />
      <button type="submit" className="primary">
        Send
      </button>
    </form>
  );
}
