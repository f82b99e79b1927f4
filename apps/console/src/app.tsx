import { Redirect, Route, Switch, useLocation } from 'wouter';
import { ForgotPassword } from './account/forgot-password.js';
import { ConfirmEmail, ConfirmNewEmail, Invitation, LinkedPage, ResetPassword } from './account/mail-pages.js';
import { Returned } from './account/providers.js';
import { SignIn } from './account/sign-in.js';
import { SignUp } from './account/sign-up.js';
import { CatalogueView } from './catalogue/catalogue-view.js';
import { ChatView } from './chat/chat-view.js';
import { ChatProvider } from './chat/chat.js';
import { IdentitiesView } from './identities/identities-view.js';
import { FeedProvider } from './notifications/feed.js';
import { NotificationsView } from './notifications/notifications-view.js';
import { SecurityView } from './security/security-view.js';
import { useMe } from './session/me.js';
import { useSession } from './session/session.js';
import { SessionsView } from './sessions/sessions-view.js';
import { Shell } from './shell.js';
import { Guarded } from './ui/boundary.js';
import { Empty, Loading } from './ui/notices.js';
import { QueryFailure } from './ui/query-failure.js';

const LINKED_PAGES = [
  ['/confirm-email', 'Confirm your email', ConfirmEmail],
  ['/confirm-new-email', 'Confirm your new email', ConfirmNewEmail],
  ['/reset-password', 'Choose a new password', ResetPassword],
  ['/invitation', 'Your invitation', Invitation],
] as const;

/** The pages: those that mails link to, those for signed-out visitors, and the views. */
export function App() {
  const { identityId } = useSession();
  const isSignedIn = identityId !== undefined;
  return (
    <Switch>
      {LINKED_PAGES.map(([path, title, page]) => (
        <Route key={path} path={path}>
          <LinkedPage title={title} of={page} />
        </Route>
      ))}
      <Route path="/sign-up">{isSignedIn ? <Redirect to="/" /> : <SignUp />}</Route>
      <Route path="/forgot-password" component={ForgotPassword} />
      <Route path="/returned" component={Returned} />
      {/* signing in leads to the requested page */}
      <Route>{isSignedIn ? <Views key={identityId} /> : <SignIn />}</Route>
    </Switch>
  );
}

function Views() {
  const account = useMe();
  const { data: me } = account;
  const [path] = useLocation();
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
        <Shell me={me}>
          <Guarded of={path}>
            <Switch>
              <Route path="/">
                <Redirect to="/notifications" replace />
              </Route>
              <Route path="/notifications" component={NotificationsView} />
              <Route path="/chat/:channelId?">{({ channelId }) => <ChatView channelId={channelId} />}</Route>
              <Route path="/catalogue" component={CatalogueView} />
              <Route path="/sessions" component={SessionsView} />
              <Route path="/security" component={SecurityView} />
              {me.isAdmin && <Route path="/identities" component={IdentitiesView} />}
              <Route>
                <Empty title="There is no such page">Choose another one from the menu.</Empty>
              </Route>
            </Switch>
          </Guarded>
        </Shell>
      </ChatProvider>
    </FeedProvider>
  );
}
