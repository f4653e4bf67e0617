import { useState } from 'preact/hooks';
import type { Problem } from '../api/problem.js';
import { useAction } from '../api/resource.js';
import { signIn } from '../api/session.js';
import { usePlace } from '../lib/place.js';
import { duration } from '../lib/time.js';
import { TextField } from '../parts/field.js';
import { Icon } from '../parts/icon.js';
import { Page } from '../parts/page.js';
import { ProblemNote } from '../parts/problem-note.js';
import { Logo } from '../parts/logo.js';

/** Who comes without a session. */
export function SignInPage() {
  const { query } = usePlace();
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState('');
  const { run, isBusy, problem } = useAction();
  return (
    <main class="entry">
      <div class="entry-box">
        <Logo />
        <Page title="Sign in to Rollcall">
          {query.has('ended') && !problem && (
            <p class="note">
              <Icon name="warning" />
              <span>Your session has ended. Sign in to go on where you were.</span>
            </p>
          )}
          <form
            onSubmit={(event) => {
              event.preventDefault();
              void run(() => signIn(username, password));
            }}
          >
            <TextField
              name="username"
              label="Username or e-mail"
              value={username}
              onValue={setUsername}
              error={problem?.at('username')}
              input={{ autocomplete: 'username', required: true, autofocus: true, spellcheck: false }}
            />
            <TextField
              name="password"
              value={password}
              onValue={setPassword}
              error={problem?.at('password')}
              input={{ type: 'password', autocomplete: 'current-password', required: true }}
            />
            {problem?.code === 'login_throttled' ? (
              <Throttled problem={problem} />
            ) : (
              <ProblemNote problem={problem} />
            )}
            <button type="submit" class="primary full" disabled={isBusy}>
              {isBusy ? 'Signing in …' : 'Sign in'}
            </button>
          </form>
          <Help />
        </Page>
      </div>
    </main>
  );
}

/** The limits of docs/security.md, in words. */
const Throttled = ({ problem }: { problem: Problem }) => (
  <ProblemNote
    problem={Object.assign(Object.create(problem) as Problem, {
      detail:
        'To keep others from guessing passwords, an account takes 5 wrong ones from an address in 15 minutes. ' +
        `The right one is refused too until then${problem.retryAfter ? `, for ${duration(problem.retryAfter)}` : ''}.`,
      retryAfter: 0,
    })}
  />
);

const Help = () => (
  <details>
    <summary>How do I get in?</summary>
    <p>
      With the username or e-mail of your account, and its password. If you have none, or have forgotten it, a
      Webmaster sets one, or <code>rollcall users reset-password NAME</code> does, at a shell on the server.
    </p>
    <p>
      On its first start the service makes the Webmaster <code>admin</code>. Its password is what{' '}
      <code>BOOTSTRAP_WEBMASTER_PASSWORD</code> says, or a random one that the service prints once, when it
      starts.
    </p>
  </details>
);
