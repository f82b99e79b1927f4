import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useLayoutEffect, useState, type ReactNode } from 'react';
import { ConfirmReminder } from './account/confirm-reminder.js';
import { useChat } from './chat/chat.js';
import { useFeed } from './notifications/feed.js';
import { NotificationsPopup } from './notifications/notifications-popup.js';
import { Palette } from './palette/palette.js';
import { sections, type Place } from './places.js';
import type { Me } from './session/me.js';
import { useSession } from './session/session.js';
import { Badge } from './ui/badge.js';
import { Bar } from './ui/bar.js';
import { Brand } from './ui/brand.js';
import { Button } from './ui/button.js';
import { Icon } from './ui/icons.js';
import { Failure } from './ui/notices.js';
import { ThemeButton } from './ui/theme.js';
import { t } from './texts/texts.js';

/** The frame around the views: navigation, the search over everything, and the signed-in identity. */
export function Shell({ me, children }: { me: Me; children: ReactNode }) {
  const { signOut } = useSession();
  const leaving = useMutation({ mutationFn: signOut });
  // notifications are told beside it
  const { unread } = useChat();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const [isFinding, setFinding] = useState(false);
  // as soon as the page is there: an effect comes later, and a key before it is lost
  useLayoutEffect(() => {
    function open(event: KeyboardEvent): void {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      setFinding(true);
    }
    document.addEventListener('keydown', open);
    return () => document.removeEventListener('keydown', open);
  }, []);
  return (
    <div className={isMenuOpen ? 'shell shell-open' : 'shell'}>
      <Bar
        brand={
          <p className="brand">
            <Button
              className="quiet icon-button menu-button with-badge"
              aria-expanded={isMenuOpen}
              aria-controls="views"
              onClick={() => setMenuOpen(!isMenuOpen)}
            >
              <Icon name={isMenuOpen ? 'close' : 'menu'} />
              <span className="unseen">{t('ui.menu')}</span>
              <Badge unread={unread} />
            </Button>
            <Brand />
          </p>
        }
      >
        <Button className="quiet finder-button" aria-keyshortcuts="Control+K" onClick={() => setFinding(true)}>
          <Icon name="search" /> <span>{t('ui.find')}</span> <kbd aria-hidden="true">Ctrl K</kbd>
        </Button>
        <span className="email" title={me.email}>
          {me.email}
        </span>
        <NotificationsPopup />
        <ThemeButton />
        <Button
          className="quiet icon-button"
          onClick={() => leaving.mutate()}
          isOff={leaving.isPending}
          title={t('ui.signOut')}
          aria-label={t('ui.signOut')}
        >
          <Icon name="leave" />
        </Button>
      </Bar>
      <nav id="views" aria-label={t('ui.views')}>
        {sections().map(([name, places]) => (
          <Section
            key={name}
            name={name}
            close={() => setMenuOpen(false)}
            places={places.filter(({ isForAdmins = false }) => me.isAdmin || !isForAdmins)}
          />
        ))}
      </nav>
      <main id="content" tabIndex={-1}>
        <Failure of={leaving.error}>{t('ui.stillSignedIn')}</Failure>
        <ConfirmReminder me={me} />
        {children}
      </main>
      {isFinding && <Palette me={me} onClose={() => setFinding(false)} />}
    </div>
  );
}

interface SectionProps {
  name: string;
  places: readonly Place[];
  /** Closes the menu, where it lies above the view. */
  close(): void;
}

function Section({ name, places, close }: SectionProps) {
  if (places.length === 0) return null;
  return (
    <>
      {name !== '' && <p className="nav-section">{name}</p>}
      <ul>
        {places.map((place) => (
          <PlaceLink key={place.path} {...place} close={close} />
        ))}
      </ul>
    </>
  );
}

function PlaceLink({ path, name, icon, close }: Place & { close(): void }) {
  const { unread: notifications } = useFeed();
  const { unread: messages } = useChat();
  const unread = { '/notifications': notifications, '/chat': messages }[path] ?? 0;
  return (
    <li>
      <Link to={path} onClick={close} activeOptions={{ exact: path === '/', includeSearch: false }}>
        <Icon name={icon} />
        <span>{name}</span>
        <Badge unread={unread} />
      </Link>
    </li>
  );
}
