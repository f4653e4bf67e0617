import { useEffect } from 'preact/hooks';
import { type User, pendingConfirmation } from './api/client.js';
import { sessionState, startSession } from './api/session.js';
import { navigate, getCurrentHref, toHref, isConsoleUrl, useUrl } from './lib/url.js';
import { useStore } from './lib/store.js';
import { NewPasswordPage } from './pages/new-password-page.js';
import { SignInPage } from './pages/sign-in-page.js';
import { Button } from './parts/button.js';
import { Page } from './parts/page.js';
import { LeaveConfirmation } from './parts/leave-confirmation.js';
import { ProblemNote } from './parts/problem-note.js';
import { SessionConfirmation } from './parts/session-confirmation.js';
import { SessionEnded } from './parts/session-ended.js';
import { getStartPath, matchRoute, mayOpen } from './routes.js';
import { Shell } from './shell.js';

const SIGN_IN = '/sign-in';

/** Root component: shows the page of the current URL if the user may see it. */
export function App() {
  const { path, query } = useUrl();
  const session = useStore(sessionState);
  const confirmation = useStore(pendingConfirmation);
  const user = 'user' in session ? session.user : undefined;
  const target = getRedirect(session.state, user, path, query.get('back'));
  useEffect(() => {
    if (target !== undefined) navigate(target, { replace: true });
  }, [target]);
  if (path === SIGN_IN) return <SignInPage />;
  if (user?.password_change_required && session.state === 'user') return <NewPasswordPage user={user} />;
  return (
    <Shell key={user?.uuid} user={user}>
      {session.state === 'unreachable' ? (
        <Page title="Service not available">
          <ProblemNote problem={session.problem} />
          <Button text="Try again" onClick={() => void startSession()} />
        </Page>
      ) : (
        user && target === undefined && <MatchedPage user={user} path={path} />
      )}
      {session.state === 'ended' && <SessionEnded user={session.user} />}
      {user && confirmation && <SessionConfirmation user={user} onEnd={confirmation} />}
      <LeaveConfirmation />
    </Shell>
  );
}

/** Returns the URL to redirect to, or undefined if the current URL is right. */
function getRedirect(
  state: string,
  user: User | undefined,
  path: string,
  back: string | null,
): string | undefined {
  if (path === SIGN_IN) return user && (back && isConsoleUrl(back) ? back : toHref(getStartPath(user)));
  if (state === 'signed-out') return toHref(SIGN_IN, { back: path === '/' ? undefined : getCurrentHref() });
  return user && path === '/' ? toHref(getStartPath(user)) : undefined;
}

function MatchedPage({ user, path }: { user: User; path: string }) {
  const { route, params = {} } = matchRoute(path) ?? {};
  if (route && mayOpen(route, user)) {
    const Content = route.page;
    return <Content key={route.path + JSON.stringify(params)} user={user} params={params} />;
  }
  return (
    <Page title={route ? 'Access denied' : 'Page not found'}>
      <p>
        {route
          ? `${user.username} does not have permission to open this page.`
          : `The page ${path} does not exist.`}{' '}
        <a href={toHref('/')}>Go to the start page.</a>
      </p>
    </Page>
  );
}
