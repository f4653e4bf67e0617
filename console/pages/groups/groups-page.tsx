import { toHref } from '../../lib/url.js';
import { List, useList } from '../../parts/list.js';
import { Page } from '../../parts/page.js';
import { Tags } from '../../parts/pill.js';
import { SearchField } from '../../parts/search-field.js';
import type { Column } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { type Group, loadGroups } from './groups.js';

const COLUMNS: readonly Column<Group>[] = [
  { title: 'Name', cell: ({ uuid, display_name }) => <a href={toHref(`/groups/${uuid}`)}>{display_name}</a> },
  { title: 'Roles for members', cell: ({ roles }) => <Tags values={roles} none="no roles" /> },
  { title: 'External ID', cell: ({ external_id }) => external_id && <code>{external_id}</code> },
  { title: 'Updated', cell: ({ updated }) => <Time at={updated} /> },
];

/** The list of groups that identity providers manage. */
export function GroupsPage() {
  const { query, list } = useList(loadGroups);
  return (
    <Page title="Groups" lead="Identity providers manage the members of groups. Assign roles to groups here.">
      <div class="toolbar">
        <SearchField name="q" label="Name" placeholder="Exact name" />
      </div>
      <List
        caption="Groups"
        list={list}
        unit="group"
        columns={COLUMNS}
        getKey={({ uuid }) => uuid}
        empty={query.get('q') ? 'No group has this name.' : 'No identity provider has sent a group yet.'}
      />
    </Page>
  );
}
