import { useResource } from '../../api/resource.js';
import { toHref, setQuery, useUrl } from '../../lib/url.js';
import { TextField } from '../../parts/field.js';
import { Page } from '../../parts/page.js';
import { Pager } from '../../parts/pager.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { type Column, Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { type Group, loadGroups } from './groups.js';

const COLUMNS: readonly Column<Group>[] = [
  {
    name: 'name',
    title: 'Name',
    cell: ({ uuid, display_name }) => <a href={toHref(`/groups/${uuid}`)}>{display_name}</a>,
  },
  {
    name: 'roles',
    title: 'Roles for members',
    cell: ({ roles }) =>
      roles.length === 0 ? (
        <span class="none">no roles</span>
      ) : (
        <span class="tags">
          {roles.map((role) => (
            <span key={role} class="tag">
              {role}
            </span>
          ))}
        </span>
      ),
  },
  {
    name: 'external_id',
    title: 'External ID',
    cell: ({ external_id }) => external_id && <code>{external_id}</code>,
  },
  { name: 'updated', title: 'Updated', cell: ({ updated }) => <Time at={updated} /> },
];

/** The list of groups that identity providers manage. */
export function GroupsPage() {
  const { query } = useUrl();
  const { data, problem, isLoading } = useResource(query.toString(), (signal) => loadGroups(query, signal));
  return (
    <Page title="Groups" lead="Identity providers manage the members of groups. Assign roles to groups here.">
      <div class="toolbar">
        <TextField
          name="q"
          label="Name"
          value={query.get('q') ?? ''}
          onValue={(value) => setQuery({ q: value, after: undefined }, { replace: true })}
          input={{ type: 'search', placeholder: 'Exact name' }}
        />
      </div>
      <ProblemNote problem={problem} />
      <Table
        caption="Groups"
        columns={COLUMNS}
        rows={data?.groups ?? []}
        getKey={({ uuid }) => uuid}
        isLoading={isLoading && !data}
        hasFailed={problem !== undefined && !data}
        empty={query.get('q') ? 'No group has this name.' : 'No identity provider has sent a group yet.'}
      />
      <Pager
        count={data?.count}
        shown={data?.groups.length ?? 0}
        unit={['group', 'groups']}
        next={data?.next ?? ''}
      />
    </Page>
  );
}
