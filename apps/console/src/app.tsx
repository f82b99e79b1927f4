import { Outlet, createRootRoute, createRoute, lazyRouteComponent, useLocation } from '@tanstack/react-router';
import { ForgotPassword } from './account/forgot-password.js';
import { ConfirmEmail, ConfirmNewEmail, Invitation, LinkedPage, ResetPassword } from './account/mail-pages.js';
import { Returned } from './account/providers.js';
import { SignIn } from './account/sign-in.js';
import { SignUp } from './account/sign-up.js';
import { ChatProvider } from './chat/chat.js';
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
import { Redirect } from './ui/redirect.js';

const LINKED_PAGES = [
  ['confirm-email', 'Confirm your email', ConfirmEmail],
  ['confirm-new-email', 'Confirm your new email', ConfirmNewEmail],
  ['reset-password', 'Choose a new password', ResetPassword],
  ['invitation', 'Your invitation', Invitation],
] as const;

const root = createRootRoute();

const publicPages = [
  ...LINKED_PAGES.map(([path, title, page]) =>
    createRoute({ getParentRoute: () => root, path, component: () => <LinkedPage title={title} of={page} /> }),
  ),
  createRoute({ getParentRoute: () => root, path: 'sign-up', component: SigningUp }),
  createRoute({ getParentRoute: () => root, path: 'forgot-password', component: ForgotPassword }),
  createRoute({ getParentRoute: () => root, path: 'returned', component: Returned }),
];

// signing in leads to the requested page
const signedIn = createRoute({ getParentRoute: () => root, id: 'signed-in', component: SignedIn });
const records = () => import('./records/records-route.js');
const VIEWS = [
  ['/', lazyRouteComponent(() => import('./home/home-route.js'), 'HomeRoute')],
  ['notifications', lazyRouteComponent(() => import('./notifications/notifications-view.js'), 'NotificationsView')],
  ['catalogue', lazyRouteComponent(() => import('./catalogue/catalogue-view.js'), 'CatalogueView')],
  ['chat/{-$channelId}', lazyRouteComponent(() => import('./chat/chat-route.js'), 'ChatRoute')],
  ['sessions', lazyRouteComponent(() => import('./sessions/sessions-view.js'), 'SessionsView')],
  ['security', lazyRouteComponent(() => import('./security/security-view.js'), 'SecurityView')],
  ['account', lazyRouteComponent(() => import('./account/account-route.js'), 'AccountRoute')],
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

function SigningUp() {
  const { identityId } = useSession();
  return identityId === undefined ? <SignUp /> : <Redirect to="/" />;
}

function NoSuchPage() {
  return <Empty title="There is no such page">Choose another one from the menu.</Empty>;
}

function SignedIn() {
  const { identityId } = useSession();
  return identityId === undefined ? <SignIn /> : <Views key={identityId} />;
}

function Views() {
  const account = useMe();
  const { data: me } = account;
  const { pathname } = useLocation();
  if (!me)
    return (
      <main className="card-page">
        <QueryFailure of={[account]} />
        {!account.error && <Loading what="your account" />}
      </main>
    );
  return (
    <FeedProvider>
      <ChatProvider>
        <ProofProvider>
          <ToastProvider>
            <Shell me={me}>
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
