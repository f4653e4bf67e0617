import { useState } from 'preact/hooks';
import { useAction } from '../api/resource.js';
import { signIn } from '../api/session.js';
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
      <ProblemNote problem={problem} />
      <button type="submit" class="primary full" aria-disabled={isBusy}>
        {isBusy ? 'Signing in…' : 'Sign in'}
      </button>
    </form>
  );
}
