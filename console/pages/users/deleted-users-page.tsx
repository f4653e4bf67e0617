import { useResource } from '../../api/resource.js';
import { loadDeletedUsers } from '../../api/users.js';
import { toHref, useUrl } from '../../lib/url.js';
import { ActorName } from '../../parts/actor-name.js';
import { getDisplayName } from '../../parts/avatar.js';
import { LinkButton } from '../../parts/button.js';
import { List } from '../../parts/list.js';
import { Page } from '../../parts/page.js';
import { SearchField } from '../../parts/search-field.js';
import { Time } from '../../parts/time.js';

/** The list of deleted users, the last deletion first. */
export function DeletedUsersPage() {
  const { query } = useUrl();
  const search = query.get('q') ?? '';
  const offset = Number(query.get('after') ?? 0);
  const list = useResource(`${offset} ${search}`, (signal) =>
    loadDeletedUsers({ offset, ...(search && { search }) }, signal),
  );
  return (
    <Page title="Deleted users" actions={<LinkButton text="All users" href={toHref('/users')} />}>
      <div class="toolbar" role="search">
        <SearchField name="q" label="Search" placeholder="Part of a name, username, e-mail or external ID" />
      </div>
      <List
        caption="Deleted users"
        list={list}
        unit="deleted user"
        getKey={({ uuid }) => uuid}
        empty={search ? 'No deleted users match this search.' : 'No users have been deleted.'}
        columns={[
          {
            title: 'Name',
            cell: (user) => <a href={toHref(`/users/deleted/${user.uuid}`)}>{getDisplayName(user)}</a>,
          },
          { title: 'Username', cell: ({ username }) => username },
          { title: 'E-mail', cell: ({ email }) => email },
          { title: 'Deleted', cell: ({ deleted }) => <Time at={deleted} /> },
          { title: 'By', cell: ({ deleted_by: by }) => by && <ActorName actor={by} /> },
          { title: 'Reason', cell: ({ reason }) => reason },
          { title: 'Final removal', cell: (user) => <Time at={user.final_removal} /> },
        ]}
      />
    </Page>
  );
}
