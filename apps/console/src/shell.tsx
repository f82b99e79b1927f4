import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link, useRoute } from 'wouter';
import { ConfirmReminder } from './account/confirm-reminder.js';
import { useChat } from './chat/chat.js';
import { useFeed } from './notifications/feed.js';
import type { Me } from './session/me.js';
import { useSession } from './session/session.js';
import { Badge } from './ui/badge.js';
import { Bar, Logo } from './ui/bar.js';
import { Button } from './ui/button.js';
import { Icon, type IconName } from './ui/icons.js';
import { Failure } from './ui/notices.js';
import { ThemeButton } from './ui/theme.js';

interface Place {
  path: string;
  name: string;
  icon: IconName;
  /** Number of unseen items. */
  unread?: number;
}

/** The frame around the views: navigation, and the signed-in identity. */
export function Shell({ me, children }: { me: Me; children: ReactNode }) {
  const { signOut } = useSession();
  const leaving = useMutation({ mutationFn: signOut });
  const { unread: notifications } = useFeed();
  const { unread: messages } = useChat();
  const places: Place[] = [
    { path: '/notifications', name: 'Notifications', icon: 'bell', unread: notifications },
    { path: '/chat', name: 'Chat', icon: 'chat', unread: messages },
    { path: '/catalogue', name: 'Catalogue', icon: 'chart' },
    { path: '/sessions', name: 'Sessions', icon: 'devices' },
    { path: '/security', name: 'Security', icon: 'lock' },
    ...(me.isAdmin ? [{ path: '/identities', name: 'Identities', icon: 'people' } as const] : []),
  ];
  return (
    <div className="shell">
      <Bar
        brand={
          <p className="brand">
            <Logo /> Tandem
          </p>
        }
      >
        <span className="email" title={me.email}>
          {me.email}
        </span>
        <ThemeButton />
        <Button
          className="quiet icon-button"
          onClick={() => leaving.mutate()}
          isOff={leaving.isPending}
          title="Sign out"
          aria-label="Sign out"
        >
          <Icon name="leave" />
        </Button>
      </Bar>
      <nav aria-label="Views">
        <ul>
          {places.map((place) => (
            <PlaceLink key={place.path} {...place} />
          ))}
        </ul>
      </nav>
      <main id="content" tabIndex={-1}>
        <Failure of={leaving.error}>You are still signed in.</Failure>
        <ConfirmReminder me={me} />
        {children}
      </main>
    </div>
  );
}

function PlaceLink({ path, name, icon, unread = 0 }: Place) {
  const [isHere] = useRoute(`${path}/*?`);
  return (
    <li>
      <Link href={path} aria-current={isHere ? 'page' : undefined}>
        <Icon name={icon} />
        <span>{name}</span>
        <Badge unread={unread} />
      </Link>
    </li>
  );
}
