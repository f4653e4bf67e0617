import type { User } from '../../api/client.js';
import { getAllRoles } from '../../api/session.js';
import { toHref } from '../../lib/url.js';
import { getLabel } from '../../lib/text.js';
import { Avatar, getDisplayName } from '../../parts/avatar.js';
import { StatusPill, Tags } from '../../parts/pill.js';
import type { Column } from '../../parts/table.js';
import { Time } from '../../parts/time.js';

/** A column, whose name is used in URLs. */
export type UserColumn = Column<User> & { name: string };

/** Columns by which the service sorts. */
const SORTED = ['username', 'firstname', 'surname', 'email', 'status', 'external_id', 'updated', 'created'];

const createColumn = (name: string, cell: UserColumn['cell']): UserColumn => ({
  name,
  title: getLabel(name),
  ...(SORTED.includes(name) && { sort: name }),
  cell,
});

const NAME: UserColumn = {
  name: 'name',
  title: 'Name',
  sort: 'surname',
  cell: (user) => (
    <span class="person">
      <Avatar user={user} />
      <span>
        <a href={toHref(`/users/${user.uuid}`)}>{getDisplayName(user)}</a>
        <span class="muted small">{user.username}</span>
      </span>
    </span>
  ),
};

/** All available columns. */
export const COLUMNS: readonly UserColumn[] = [
  NAME,
  ...(['username', 'firstname', 'surname', 'known_as', 'email'] as const).map((name) =>
    createColumn(name, (user) => user[name]),
  ),
  createColumn('status', ({ status }) => <StatusPill status={status} />),
  createColumn('roles', (user) => <Tags values={getAllRoles(user)} />),
  ...(['external_id', 'phone', 'mobile'] as const).map((name) => createColumn(name, (user) => user[name])),
  ...(['updated', 'created', 'last_access'] as const).map((name) =>
    createColumn(name, (user) => <Time at={user[name]} />),
  ),
];

const DEFAULT_COLUMNS = ['name', 'email', 'status', 'roles', 'external_id', 'updated'];

/** Returns the columns named in the URL, or the default columns. Only Webmasters can sort by a field that can be hidden. */
export function parseColumns(named: string | null, isFull: boolean): UserColumn[] {
  const wanted = named?.split(',') ?? DEFAULT_COLUMNS;
  const found = COLUMNS.filter(({ name }) => wanted.includes(name));
  const shown = found.length > 0 ? found : [NAME];
  return isFull ? shown : shown.map((column) => (column.sort === 'email' ? { ...column, sort: '' } : column));
}

/** Formats chosen columns for the URL. Returns undefined for the default columns. */
export function formatColumns(names: readonly string[]): string | undefined {
  const ordered = COLUMNS.map(({ name }) => name).filter((name) => names.includes(name));
  return ordered.join() === DEFAULT_COLUMNS.join() ? undefined : ordered.join();
}
