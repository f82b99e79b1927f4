import { Outlet, createRootRoute, createRoute, lazyRouteComponent, useLocation } from '@tanstack/react-router';
import { useState } from 'react';
import { SignIn } from './account/sign-in.js';
import { ChatProvider } from './chat/chat.js';
import { HomeRoute } from './home/home-route.js';
import { FeedProvider } from './notifications/feed.js';
import { ProofProvider } from './security/proof.js';
import { useMe } from './session/me.js';
import { useSession } from './session/session.js';
import { Shell } from './shell.js';
import { Guarded } from './ui/boundary.js';
import { Empty, Loading } from './ui/notices.js';
import { QueryFailure } from './ui/query-failure.js';
import { ToastProvider } from './ui/toasts.js';
import { createPageRouter } from './ui/routes.js';
import { RECORDS, t, useReader, withTexts } from './texts/texts.js';

/** All pages, drawn anew in another language. Of somebody who is signed in the view alone is: streams and drafts stay. */
function Pages() {
  const { identityId } = useSession();
  const reader = useReader();
  const [drawn, setDrawn] = useState(reader);
  if (identityId === undefined && drawn !== reader) setDrawn(reader);
  return <Outlet key={drawn} />;
}

const root = createRootRoute({ component: Pages });

const links = withTexts(['links'], () => import('./account/mail-pages.js'));
const PUBLIC_PAGES = [
  ['confirm-email', lazyRouteComponent(links, 'ConfirmEmailRoute')],
  ['confirm-new-email', lazyRouteComponent(links, 'ConfirmNewEmailRoute')],
  ['reset-password', lazyRouteComponent(links, 'ResetPasswordRoute')],
  ['invitation', lazyRouteComponent(links, 'InvitationRoute')],
  [
    'sign-up',
    lazyRouteComponent(
      withTexts(['links'], () => import('./account/sign-up.js')),
      'SignUp',
    ),
  ],
  [
    'forgot-password',
    lazyRouteComponent(
      withTexts(['links'], () => import('./account/forgot-password.js')),
      'ForgotPassword',
    ),
  ],
  [
    'returned',
    lazyRouteComponent(
      withTexts(['links'], () => import('./account/returned.js')),
      'Returned',
    ),
  ],
] as const;
const publicPages = PUBLIC_PAGES.map(([path, component]) => createRoute({ getParentRoute: () => root, path, component }));

// signing in leads to the requested page
const signedIn = createRoute({ getParentRoute: () => root, id: 'signed-in', component: SignedIn });
const records = withTexts(RECORDS, () => import('./records/records-route.js'));
const VIEWS = [
  [
    '/',
    lazyRouteComponent(
      // there from the start, since most begin here: its texts alone may be to come
      withTexts(['home', 'words', 'fields'], () => Promise.resolve({ HomeRoute })),
      'HomeRoute',
    ),
  ],
  [
    'notifications',
    lazyRouteComponent(
      withTexts(['home', 'words', 'fields'], () => import('./notifications/notifications-view.js')),
      'NotificationsView',
    ),
  ],
  [
    'catalogue',
    lazyRouteComponent(
      withTexts(['catalogue'], () => import('./catalogue/catalogue-view.js')),
      'CatalogueView',
    ),
  ],
  [
    'chat/{-$channelId}',
    lazyRouteComponent(
      withTexts(['chat'], () => import('./chat/chat-route.js')),
      'ChatRoute',
    ),
  ],
  [
    'sessions',
    lazyRouteComponent(
      withTexts(['security'], () => import('./sessions/sessions-view.js')),
      'SessionsView',
    ),
  ],
  [
    'security',
    lazyRouteComponent(
      withTexts(['security'], () => import('./security/security-view.js')),
      'SecurityView',
    ),
  ],
  [
    'account',
    lazyRouteComponent(
      withTexts(RECORDS, () => import('./account/account-route.js')),
      'AccountRoute',
    ),
  ],
  ['audit', lazyRouteComponent(records, 'AuditRoute')],
  ['events', lazyRouteComponent(records, 'EventsRoute')],
  ['trash', lazyRouteComponent(records, 'TrashRoute')],
  ['operations', lazyRouteComponent(records, 'OperationsRoute')],
  // what the server defines: /products, /products/<id>, /products/<id>/variants/<id>
  ['$kind', lazyRouteComponent(records, 'RecordsRoute')],
  ['$kind/$id', lazyRouteComponent(records, 'RecordRoute')],
  ['$kind/$id/$below/$belowId', lazyRouteComponent(records, 'RecordRoute')],
] as const;
const views = [
  ...VIEWS.map(([path, component]) => createRoute({ getParentRoute: () => signedIn, path, component })),
  createRoute({ getParentRoute: () => signedIn, path: '$', component: NoSuchPage }),
];

/** The pages: those that mails link to, those for signed-out visitors, and the views. */
export const router = createPageRouter(root.addChildren([...publicPages, signedIn.addChildren(views)]), '/console');

function NoSuchPage() {
  return <Empty title={t('ui.noSuchPage')}>{t('ui.chooseAnother')}</Empty>;
}

function SignedIn() {
  const { identityId } = useSession();
  return identityId === undefined ? <SignIn /> : <Views key={identityId} />;
}

function Views() {
  const account = useMe();
  const { data: me } = account;
  const { pathname } = useLocation();
  const reader = useReader();
  if (!me)
    return (
      <main className="card-page">
        <QueryFailure of={[account]} />
        {!account.error && <Loading what={t('ui.yourAccount')} lines={0} />}
      </main>
    );
  return (
    <FeedProvider>
      <ChatProvider>
        <ProofProvider>
          <ToastProvider>
            <Shell key={reader} me={me}>
              <Guarded of={pathname}>
                <Outlet />
              </Guarded>
            </Shell>
          </ToastProvider>
        </ProofProvider>
      </ChatProvider>
    </FeedProvider>
  );
}
