import { useEffect } from 'preact/hooks';
import { useUrl } from '../lib/url.js';
import { Icon } from '../parts/icon.js';
import { Logo } from '../parts/logo.js';
import { Page } from '../parts/page.js';
import { SignInForm } from '../parts/sign-in-form.js';

/** The sign-in page. */
export function SignInPage() {
  const { query } = useUrl();
  useEffect(() => document.querySelector<HTMLInputElement>('input[name=username]')?.focus(), []);
  return (
    <main class="entry">
      <div class="entry-box">
        <Logo />
        <Page title="Sign in to Rollcall">
          {query.has('left') && (
            <p class="note info" role="status">
              <Icon name="check" />
              <span>You have been signed out.</span>
            </p>
          )}
          <SignInForm />
          <SignInHelp />
        </Page>
      </div>
    </main>
  );
}

const SignInHelp = () => (
  <details>
    <summary>How do I sign in?</summary>
    <p>
      Use your username or e-mail and your password. If you have no password or have forgotten it, ask a
      Webmaster to set one, or run <code>rollcall users reset-password NAME</code> on the server.
    </p>
    <p>
      On its first start, the service creates the Webmaster <code>admin</code>. The password is the value of{' '}
      <code>BOOTSTRAP_WEBMASTER_PASSWORD</code>, or a random password that the service prints once.
    </p>
  </details>
);
