import type { ChannelSummary } from '@tandem/client';
import { Link } from '@tanstack/react-router';
import { Avatar } from '../ui/avatar.js';
import { Badge } from '../ui/badge.js';
import { Entry } from '../ui/boundary.js';
import { Time } from '../ui/time.js';
import { useChat } from './chat.js';
import { useChannelName, useNames, useOther } from './names.js';
import { t } from '../texts/texts.js';

/** Channels to choose from, each with its last message. */
export function ChannelList({ channels }: { channels: readonly ChannelSummary[] }) {
  return (
    <ul>
      {channels.map((one) => (
        <Entry key={one.id} of={one}>
          <ChannelLink channel={one} />
        </Entry>
      ))}
    </ul>
  );
}

function ChannelLink({ channel }: { channel: ChannelSummary }) {
  const { typingIn, isOnline } = useChat();
  const { id, icon, lastMessage, createdAt, unread = 0 } = channel;
  const isTyping = typingIn(id).length > 0;
  const name = useChannelName(channel);
  const other = useOther(channel);
  const personOf = useNames(other === undefined ? [] : [other], '');
  const picture = icon?.url ?? (other === undefined ? null : personOf(other).avatarUrl);
  return (
    <li>
      <Link to={`/chat/${id}`} className="channel">
        <span className="channel-avatar">
          <Avatar of={other ?? id} name={name} url={picture} className={other === undefined ? 'avatar-square' : ''} />
          {other !== undefined && isOnline(other) && <span className="online" />}
        </span>
        <span className="channel-name">{name}</span>
        <Badge unread={unread} />
        <span className="channel-last">
          {isTyping ? t('chat.channels.typing') : (lastMessage?.content ?? t('chat.channels.silent'))}
        </span>
        <Time at={lastMessage?.createdAt ?? createdAt} length="narrow" />
      </Link>
    </li>
  );
}
