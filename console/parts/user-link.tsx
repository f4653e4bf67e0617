import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { loadUser } from '../api/users.js';
import { useResource } from '../api/resource.js';
import { toHref } from '../lib/url.js';
import { getDisplayName } from './avatar.js';

/** Shows the name of a user by id, as a link. */
export function UserLink({ id }: { id: string }) {
  const { data } = useResource(id, (signal) => loadUser(id, signal));
  return <UserName id={id} name={data ? getDisplayName(data.user) : `…${id.slice(-6)}`} />;
}

/** Time at which the plan of the page was created. New users of the plan do not exist yet. */
export const PlanTime = createContext('');

/** Shows the name of a user, as a link if the user exists. Ids begin with a time (UUID version 7). */
export function UserName({ id, name }: { id: string; name: string }) {
  const time = Date.parse(useContext(PlanTime)).toString(16).padStart(12, '0');
  if (id.replace('-', '').startsWith(time)) return <>{name}</>;
  return (
    <a href={toHref(`/users/${id}`)} title={id}>
      {name}
    </a>
  );
}
