import type { User } from '../api/client.js';

/** Returns the display name of a user. */
export function getDisplayName(user: Pick<User, 'firstname' | 'surname' | 'known_as' | 'username'>): string {
  const name = [user.known_as || user.firstname, user.surname].filter(Boolean).join(' ');
  return name || user.username;
}

const HUES = 6;

/** Shows a user's initials. Pictures are on other servers, which the Content-Security-Policy excludes. */
export function Avatar({ user }: { user: User }) {
  const [first = '', ...others] = getDisplayName(user).split(/\s+/);
  const initials = `${first.charAt(0)}${others.at(-1)?.charAt(0) ?? ''}`.toUpperCase();
  const hue =
    Array.from(user.username, (letter) => letter.charCodeAt(0)).reduce((sum, code) => sum + code, 0) % HUES;
  return (
    <span class={`avatar hue${hue}`} aria-hidden="true">
      {initials}
    </span>
  );
}
