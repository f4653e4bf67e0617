import { loadUser } from '../api/users.js';
import { useResource } from '../api/resource.js';
import { href } from '../lib/place.js';
import { nameOf } from './avatar.js';

/** Shows the name of a user by id, as a link. */
export function Person({ id }: { id: string }) {
  const { data } = useResource(id, (signal) => loadUser(id, signal));
  return (
    <a href={href(`/users/${id}`)} title={id}>
      {data ? nameOf(data.user) : `…${id.slice(-6)}`}
    </a>
  );
}
