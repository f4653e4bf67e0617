import { useState } from 'preact/hooks';
import type { User } from '../../api/client.js';
import { useResource } from '../../api/resource.js';
import { ROLE_RIGHTS, useRoles } from '../../api/roles.js';
import { isWebmaster } from '../../api/session.js';
import { setQuery, toHref, useUrl } from '../../lib/url.js';
import { SelectField } from '../../parts/field.js';
import { Icon } from '../../parts/icon.js';
import { Page } from '../../parts/page.js';
import { Pager } from '../../parts/pager.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { SearchField } from '../../parts/search-field.js';
import { Table } from '../../parts/table.js';
import { UserLink } from '../../parts/user-link.js';
import { ColumnChoice } from './column-choice.js';
import { parseColumns } from './columns.js';
import { getExportUrl, searchUsers, toFilters } from './search.js';
import { NO_SELECTION, type Selection, SelectionBar, createSelectionColumn } from './selection.js';

/** The list of users. The URL contains its search, filters, sort order and columns. */
export function UsersPage({ user }: { user: User }) {
  const { query } = useUrl();
  const searchQuery = new URLSearchParams(query);
  searchQuery.delete('columns');
  const { data, problem, isLoading } = useResource(searchQuery.toString(), (signal) =>
    searchUsers(searchQuery, signal),
  );
  const columns = parseColumns(query.get('columns'));
  const filters = JSON.stringify(toFilters(searchQuery));
  const [chosen, setChosen] = useState({ filters, selection: NO_SELECTION });
  // Another search ends the selection.
  const selection = chosen.filters === filters ? chosen.selection : NO_SELECTION;
  const select = (next: Selection): void => {
    setChosen({ filters, selection: next });
  };
  const manager = query.get('manager_uuid');
  const text = query.get('q') ?? '';
  return (
    <Page
      title="Users"
      actions={
        <>
          <ColumnChoice chosen={columns} />
          {isWebmaster(user) && (
            <>
              <a class="button" href={toHref('/users/deleted', { q: text })}>
                Deleted users
              </a>
              <a class="button primary" href={toHref('/users/new')}>
                New user
              </a>
            </>
          )}
          {isWebmaster(user) && (
            <a
              class="button"
              href={getExportUrl(searchQuery)}
              download
              title="Export all users in this list as CSV, in the columns of an import file"
            >
              <Icon name="imports" />
              Export
            </a>
          )}
        </>
      }
    >
      <Filters isFull={isWebmaster(user)} />
      {isWebmaster(user) && (
        <SelectionBar selection={selection} count={data?.count ?? 0} query={searchQuery} onChange={select} />
      )}
      {isWebmaster(user) && query.get('role') && <p class="muted">{ROLE_RIGHTS}</p>}
      {manager && (
        <p>
          Direct reports of <UserLink id={manager} />. <a href={toHref('/users')}>Show all users</a>
        </p>
      )}
      <ProblemNote problem={problem} />
      {!(problem && !data) && (
        <Table
          caption="Users"
          hasCards
          columns={isWebmaster(user) ? [createSelectionColumn(selection, data, select), ...columns] : columns}
          rows={data?.users ?? []}
          getKey={(each) => each.uuid}
          sort={query.get('sort') ?? (text ? '' : 'updated')}
          order={query.get('order') === 'asc' ? 'asc' : 'desc'}
          onSort={(sort, order) => {
            setQuery({ sort, order, after: undefined });
          }}
          isLoading={isLoading}
          hasFailed={problem !== undefined && !data}
          empty={
            <>
              No users match.
              {isWebmaster(user) && text && (
                <>
                  {' '}
                  <a href={toHref('/users/deleted', { q: text })}>Search the deleted users</a>
                </>
              )}
            </>
          }
        />
      )}
      <Pager
        count={data?.count}
        shown={data?.users.length ?? 0}
        unit={['user', 'users']}
        next={data?.next ?? ''}
      />
    </Page>
  );
}

function Filters({ isFull }: { isFull: boolean }) {
  const { query } = useUrl();
  const roles = useRoles();
  const value = (name: string): string => query.get(name) ?? '';
  const choose = (name: string) => (chosen: string) => {
    setQuery({ [name]: chosen, after: undefined });
  };
  return (
    <form
      class="toolbar"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
      }}
    >
      <SearchField
        name="q"
        label="Search"
        placeholder="Name, e-mail, @domain, phone or ID"
        resets={['sort', 'order']}
      />
      {isFull && (
        <SelectField
          name="status"
          value={value('status')}
          onValue={choose('status')}
          choices={[
            { value: '', text: 'Any' },
            ...['Active', 'Blocked'].map((each) => ({ value: each, text: each })),
          ]}
        />
      )}
      <SelectField
        name="role"
        value={value('role')}
        onValue={choose('role')}
        choices={[{ value: '', text: 'Any' }, ...roles.map((each) => ({ value: each, text: each }))]}
      />
      {isFull && (
        <SelectField
          name="linked"
          label="External ID"
          value={value('linked')}
          onValue={choose('linked')}
          choices={[
            { value: '', text: 'Any' },
            { value: 'yes', text: 'Set' },
            { value: 'no', text: 'Not set' },
          ]}
        />
      )}
      {isFull && <SearchField name="managed_by" label="Data set" placeholder="Any" maxLength={64} isSmall />}
    </form>
  );
}
