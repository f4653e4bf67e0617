import { useState } from 'preact/hooks';
import { ProblemError } from '../api/problem.js';
import { useAction } from '../api/resource.js';
import { signIn } from '../api/session.js';
import { formatDuration } from '../lib/time.js';
import { TextField } from './field.js';
import { ProblemNote } from './problem-note.js';

/** The sign-in form. @param known username of a user who signs in again. */
export function SignInForm({ known = '' }: { known?: string }) {
  const [username, setUsername] = useState(known);
  const [password, setPassword] = useState('');
  const { run, isBusy, problem } = useAction();
  return (
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
        input={{ autocomplete: 'username', required: true, autofocus: known === '', spellcheck: false }}
      />
      <TextField
        name="password"
        value={password}
        onValue={setPassword}
        input={{
          type: 'password',
          autocomplete: 'current-password',
          required: true,
          autofocus: known !== '',
        }}
      />
      <ProblemNote problem={problem?.code === 'login_throttled' ? explainThrottle(problem) : problem} />
      <button type="submit" class="primary full" aria-disabled={isBusy}>
        {isBusy ? 'Signing in…' : 'Sign in'}
      </button>
    </form>
  );
}

/** Explains the login throttle (docs/security.md). */
const explainThrottle = ({ status, code, message, retryAfter }: ProblemError): ProblemError => {
  const wait = retryAfter > 0 ? `. Try again in ${formatDuration(retryAfter)}` : '';
  const detail =
    'To prevent password guessing, only a few failed attempts are allowed from one IP address within 15 minutes. ' +
    `Even the correct password is rejected for now${wait}.`;
  return new ProblemError(status, { code, title: message, detail });
};
