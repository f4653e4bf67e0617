import type { User } from '../api/client.js';
import { forget } from '../api/session.js';
import { nameOf } from './avatar.js';
import { Dialog } from './dialog.js';
import { SignInForm } from './sign-in-form.js';

/** Above the page of a session that has ended: it covers what is behind, and whoever is back finds all that they have typed. */
export const SessionEnded = ({ user }: { user: User }) => (
  <Dialog title="Your session has ended" isHeld isCovering onClose={forget}>
    <p>Sign in again, {nameOf(user)}: the page is as you left it, with what you have typed.</p>
    <SignInForm known={user.username} />
    <div class="buttons end">
      <button type="button" class="bare" onClick={forget}>
        Leave the page
      </button>
    </div>
  </Dialog>
);
