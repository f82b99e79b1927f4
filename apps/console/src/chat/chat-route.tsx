import { useParams } from '@tanstack/react-router';
import { ChatView } from './chat-view.js';

/** The chat at `/chat` and `/chat/<channel>`. */
export function ChatRoute() {
  const { channelId } = useParams({ strict: false });
  return <ChatView channelId={channelId} />;
}
