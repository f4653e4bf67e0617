import type { User } from '../api/client.js';

/** Returns the display name of a user. */
export function getDisplayName(user: Pick<User, 'firstname' | 'surname' | 'known_as' | 'username'>): string {
  const name = [user.known_as || user.firstname, user.surname].filter(Boolean).join(' ');
  return name || user.username;
}

/** Hues of the background, in degrees. */
const HUES = [226, 160, 30, 280, 340, 195];

/** Shows a user's initials. Pictures are on other servers, which the Content-Security-Policy excludes. */
export function Avatar({ user }: { user: User }) {
  const [first = '', ...others] = getDisplayName(user).split(/\s+/);
  const initials = `${first.charAt(0)}${others.at(-1)?.charAt(0) ?? ''}`.toUpperCase();
  const sum = Array.from(user.username, (letter) => letter.charCodeAt(0)).reduce((a, b) => a + b, 0);
  return (
    <span class="avatar" style={{ '--hue': `${HUES[sum % HUES.length]}deg` }} aria-hidden="true">
      {initials}
    </span>
  );
}
