import type { User } from '../api/client.js';
import { forget } from '../api/session.js';
import { nameOf } from './avatar.js';
import { Dialog } from './dialog.js';
import { SignInForm } from './sign-in-form.js';

/** Covers the page of an ended session until its user signs in again. Unsaved entries are preserved. */
export const SessionEnded = ({ user }: { user: User }) => (
  <Dialog title="Your session has ended" isHeld isCovering onClose={forget}>
    <p>Sign in again, {nameOf(user)}. Your entries on this page are preserved.</p>
    <SignInForm known={user.username} />
    <div class="buttons end">
      <button type="button" class="bare" onClick={forget}>
        Leave this page
      </button>
    </div>
  </Dialog>
);
