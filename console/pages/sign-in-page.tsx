import { useEffect } from 'preact/hooks';
import { usePlace } from '../lib/place.js';
import { Icon } from '../parts/icon.js';
import { Logo } from '../parts/logo.js';
import { Page } from '../parts/page.js';
import { SignInForm } from '../parts/sign-in-form.js';

/** Who comes without a session. */
export function SignInPage() {
  const { query } = usePlace();
  useEffect(() => {
    document.querySelector<HTMLInputElement>('input[name=username]')?.focus();
  }, []);
  return (
    <main class="entry">
      <div class="entry-box">
        <Logo />
        <Page title="Sign in to Rollcall">
          {query.has('left') && (
            <p class="note info" role="status">
              <Icon name="check" />
              <span>You are signed out.</span>
            </p>
          )}
          <SignInForm />
          <Help />
        </Page>
      </div>
    </main>
  );
}

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
