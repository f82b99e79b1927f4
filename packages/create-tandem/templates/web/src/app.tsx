import { useNotifications, useSession } from '@tandem/react';
import { Chat } from './chat.js';
import { useHash } from './hash.js';
import { Sessions } from './sessions.js';
import { SignIn } from './sign-in.js';

export function App() {
  const { status, identityId } = useSession();
  if (status === 'loading') return null;
  // the key drops what components remember of one person when the next one signs in
  return identityId === undefined ? <SignIn /> : <SignedIn key={identityId} />;
}

function SignedIn() {
  const { signOut } = useSession();
  const { unread } = useNotifications();
  const [view, id] = useHash();
  return (
    <>
      <header className="bar">
        <strong>My app</strong>
        <nav>
          <a href="#/chat" aria-current={view === 'sessions' ? undefined : 'page'}>
            Chat
          </a>
          <a href="#/sessions" aria-current={view === 'sessions' ? 'page' : undefined}>
            Devices
          </a>
        </nav>
        {unread > 0 && <span className="badge">{unread} new</span>}
        <button type="button" onClick={() => void signOut().catch(() => {})}>
          Sign out
        </button>
      </header>
      {view === 'sessions' ? <Sessions /> : <Chat channelId={id} />}
    </>
  );
}
