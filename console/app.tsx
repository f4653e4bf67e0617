import { useEffect } from 'preact/hooks';
import type { User } from './api/client.js';
import { findOut, who } from './api/session.js';
import { go, here, href, isOurs, usePlace } from './lib/place.js';
import { useStore } from './lib/store.js';
import { SignInPage } from './pages/sign-in-page.js';
import { Page } from './parts/page.js';
import { LeaveQuestion } from './parts/leave-question.js';
import { ProblemNote } from './parts/problem-note.js';
import { SessionEnded } from './parts/session-ended.js';
import { homeOf, routeOf } from './routes.js';
import { Shell } from './shell.js';

const SIGN_IN = '/sign-in';

/** Root component: shows the page of the current URL if the user may see it. */
export function App() {
  const { path, query } = usePlace();
  const session = useStore(who);
  const user = 'user' in session ? session.user : undefined;
  const target = redirection(session.state, user, path, query.get('back'));
  useEffect(() => {
    if (target !== undefined) go(target, { replace: true });
  }, [target]);
  if (path === SIGN_IN) return <SignInPage />;
  return (
    <Shell key={user?.uuid} user={user}>
      {session.state === 'unreachable' ? (
        <Page title="Service not available">
          <ProblemNote problem={session.problem} />
          <button type="button" onClick={() => void findOut()}>
            Try again
          </button>
        </Page>
      ) : (
        user && target === undefined && <Found user={user} path={path} />
      )}
      {session.state === 'ended' && <SessionEnded user={session.user} />}
      <LeaveQuestion />
    </Shell>
  );
}

/** Returns the URL to redirect to, or undefined if the current URL is right. */
function redirection(
  state: string,
  user: User | undefined,
  path: string,
  back: string | null,
): string | undefined {
  if (path === SIGN_IN) return user && (back && isOurs(back) ? back : href(homeOf(user)));
  if (state === 'signed-out') return href(SIGN_IN, { back: path === '/' ? undefined : here() });
  return user && path === '/' ? href(homeOf(user)) : undefined;
}

function Found({ user, path }: { user: User; path: string }) {
  const found = routeOf(path);
  if (!found)
    return (
      <Page title="Page not found">
        <p>
          The page <code>{path}</code> does not exist. <a href={href('/')}>Go to the start page.</a>
        </p>
      </Page>
    );
  const { route, params } = found;
  if (!route.isFor(user))
    return (
      <Page title="Access denied">
        <p>
          {user.username} does not have permission to open this page.{' '}
          <a href={href('/me')}>Go to your profile.</a>
        </p>
      </Page>
    );
  const Content = route.page;
  return <Content key={route.path + JSON.stringify(params)} user={user} params={params} />;
}
