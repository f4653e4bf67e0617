import type { User } from '../../api/client.js';
import { href } from '../../lib/place.js';
import { label } from '../../lib/text.js';
import { Avatar, nameOf } from '../../parts/avatar.js';
import { StatusPill } from '../../parts/pill.js';
import type { Column } from '../../parts/table.js';
import { Time } from '../../parts/time.js';

export interface UserColumn extends Column<User> {
  /** Returns the text of a cell in an exported file. */
  text: (user: User) => string;
}

type TextField =
  'username' | 'email' | 'external_id' | 'phone' | 'mobile' | 'firstname' | 'surname' | 'known_as';
type TimeField = 'updated' | 'created' | 'last_access';

const ofText = (name: TextField, sort?: string): UserColumn => ({
  name,
  title: label(name),
  ...(sort && { sort }),
  cell: (user) => user[name],
  text: (user) => user[name],
});

const ofTime = (name: TimeField, sort?: string): UserColumn => ({
  name,
  title: label(name),
  ...(sort && { sort }),
  cell: (user) => <Time at={user[name]} />,
  text: (user) => user[name] ?? '',
});

const Tags = ({ values }: { values: readonly string[] }) => (
  <span class="tags">
    {values.map((value) => (
      <span key={value} class="tag">
        {value}
      </span>
    ))}
  </span>
);

const NAME: UserColumn = {
  name: 'name',
  title: 'Name',
  sort: 'surname',
  cell: (user) => (
    <span class="person">
      <Avatar user={user} />
      <span>
        <a href={href(`/users/${user.uuid}`)}>{nameOf(user)}</a>
        <span class="muted small">{user.username}</span>
      </span>
    </span>
  ),
  text: nameOf,
};

/** All available columns. */
export const COLUMNS: readonly UserColumn[] = [
  NAME,
  ofText('username', 'username'),
  ofText('firstname', 'firstname'),
  ofText('surname', 'surname'),
  ofText('known_as'),
  ofText('email', 'email'),
  {
    name: 'status',
    title: 'Status',
    sort: 'status',
    cell: (user) => <StatusPill status={user.status} />,
    text: (user) => user.status,
  },
  {
    name: 'roles',
    title: 'Roles',
    cell: (user) => <Tags values={[...user.roles, ...user.group_roles]} />,
    text: (user) => user.roles.join('; '),
  },
  ofText('external_id', 'external_id'),
  ofText('phone'),
  ofText('mobile'),
  ofTime('updated', 'updated'),
  ofTime('created', 'created'),
  ofTime('last_access'),
];

const STANDARD = ['name', 'email', 'status', 'roles', 'external_id', 'updated'];

/** Returns the columns named in the URL, or the default columns. */
export function chosenColumns(named: string | null): UserColumn[] {
  const wanted = named?.split(',') ?? STANDARD;
  const found = COLUMNS.filter(({ name }) => wanted.includes(name));
  return found.length > 0 ? found : [NAME];
}

/** Formats chosen columns for the URL. Returns undefined for the default columns. */
export function namedColumns(names: readonly string[]): string | undefined {
  const ordered = COLUMNS.map(({ name }) => name).filter((name) => names.includes(name));
  return ordered.join() === STANDARD.join() ? undefined : ordered.join();
}
