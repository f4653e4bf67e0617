import type { User } from '../api/client.js';
import { loadSession, signOut } from '../api/session.js';
import { useAction } from '../api/resource.js';
import { Button } from '../parts/button.js';
import { Logo } from '../parts/logo.js';
import { Page } from '../parts/page.js';
import { ProblemNote } from '../parts/problem-note.js';
import { Toast } from '../parts/toast.js';
import { PasswordForm } from './user/password-card.js';

/** Asks a user who has signed in with a generated password for a new password. */
export function NewPasswordPage({ user }: { user: User }) {
  const { run, problem } = useAction();
  return (
    <main class="entry">
      <div class="entry-box">
        <Logo />
        <Page title="Choose a new password">
          <p>
            You have signed in as {user.username} with a password that another person has seen. Replace it to
            continue.
          </p>
          <PasswordForm user={user} isSelf onChange={() => void loadSession()} />
          <ProblemNote problem={problem} />
          <Button text="Sign out" kind="bare" onClick={() => void run(signOut)} />
        </Page>
      </div>
      <Toast />
    </main>
  );
}
