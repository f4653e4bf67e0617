import { loadUser } from '../api/users.js';
import { useResource } from '../api/resource.js';
import { toHref } from '../lib/url.js';
import { getDisplayName } from './avatar.js';

/** Shows the name of a user by id, as a link. */
export function UserLink({ id }: { id: string }) {
  const { data } = useResource(id, (signal) => loadUser(id, signal));
  return (
    <a href={toHref(`/users/${id}`)} title={id}>
      {data ? getDisplayName(data.user) : `…${id.slice(-6)}`}
    </a>
  );
}
