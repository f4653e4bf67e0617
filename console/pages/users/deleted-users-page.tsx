import { useResource } from '../../api/resource.js';
import { DELETED_PAGE, loadDeletedUsers } from '../../api/users.js';
import { toHref, useUrl } from '../../lib/url.js';
import { ActorName } from '../../parts/actor-name.js';
import { getDisplayName } from '../../parts/avatar.js';
import { Page } from '../../parts/page.js';
import { Pager } from '../../parts/pager.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { SearchField } from '../../parts/search-field.js';
import { Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';

/** The list of deleted users, the last deletion first. */
export function DeletedUsersPage() {
  const { query } = useUrl();
  const search = query.get('q') ?? '';
  const offset = Number(query.get('after') ?? 0);
  const { data, problem, isLoading } = useResource(`${offset} ${search}`, (signal) =>
    loadDeletedUsers({ offset, ...(search && { search }) }, signal),
  );
  const end = offset + DELETED_PAGE;
  return (
    <Page
      title="Deleted users"
      actions={
        <a class="button" href={toHref('/users')}>
          All users
        </a>
      }
    >
      <form
        class="toolbar"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
        }}
      >
        <SearchField name="q" label="Search" placeholder="Part of a name, username, e-mail or external ID" />
      </form>
      <ProblemNote problem={problem} />
      <Table
        caption="Deleted users"
        rows={data?.users ?? []}
        getKey={({ uuid }) => uuid}
        isLoading={isLoading}
        hasFailed={problem !== undefined && !data}
        empty={search ? 'No deleted users match this search.' : 'No users have been deleted.'}
        columns={[
          {
            name: 'name',
            title: 'Name',
            cell: (user) => <a href={toHref(`/users/deleted/${user.uuid}`)}>{getDisplayName(user)}</a>,
          },
          { name: 'username', title: 'Username', cell: ({ username }) => username },
          { name: 'email', title: 'E-mail', cell: ({ email }) => email },
          { name: 'deleted', title: 'Deleted', cell: ({ deleted }) => <Time at={deleted} /> },
          { name: 'by', title: 'By', cell: ({ deleted_by: by }) => by && <ActorName actor={by} /> },
          { name: 'reason', title: 'Reason', cell: ({ reason }) => reason },
          { name: 'removal', title: 'Final removal', cell: (user) => <Time at={user.final_removal} /> },
        ]}
      />
      <Pager
        count={data?.count}
        shown={data?.users.length ?? 0}
        unit={['deleted user', 'deleted users']}
        next={data && end < data.count ? String(end) : ''}
      />
    </Page>
  );
}
