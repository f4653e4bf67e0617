import { useState } from 'preact/hooks';
import type { Problem } from '../api/problem.js';
import { useAction } from '../api/resource.js';
import { signIn } from '../api/session.js';
import { duration } from '../lib/time.js';
import { TextField } from './field.js';
import { ProblemNote } from './problem-note.js';

/** Username and password. @param known who is asked to sign in again. */
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
        error={problem?.at('username')}
        input={{ autocomplete: 'username', required: true, autofocus: known === '', spellcheck: false }}
      />
      <TextField
        name="password"
        value={password}
        onValue={setPassword}
        error={problem?.at('password')}
        input={{
          type: 'password',
          autocomplete: 'current-password',
          required: true,
          autofocus: known !== '',
        }}
      />
      {problem?.code === 'login_throttled' ? (
        <Throttled problem={problem} />
      ) : (
        <ProblemNote problem={problem} />
      )}
      <button type="submit" class="primary full" aria-disabled={isBusy}>
        {isBusy ? 'Signing in …' : 'Sign in'}
      </button>
    </form>
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
