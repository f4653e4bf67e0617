import type { User } from '../api/client.js';
import { clearSession } from '../api/session.js';
import { getDisplayName } from './avatar.js';
import { Button } from './button.js';
import { Dialog } from './dialog.js';
import { SignInForm } from './sign-in-form.js';

/** Covers the page of an ended session until its user signs in again. Unsaved entries are preserved. */
export const SessionEnded = ({ user }: { user: User }) => (
  <Dialog title="Your session has ended" isPersistent hidesPage onClose={clearSession}>
    <p>Sign in again, {getDisplayName(user)}. Your entries on this page are preserved.</p>
    <SignInForm known={user.username} />
    <div class="buttons end">
      <Button text="Leave this page" kind="bare" onClick={clearSession} />
    </div>
  </Dialog>
);
