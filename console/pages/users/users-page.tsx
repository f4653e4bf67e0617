import { useState } from 'preact/hooks';
import type { User } from '../../api/client.js';
import { useResource } from '../../api/resource.js';
import { ROLE_RIGHTS, useRoles } from '../../api/roles.js';
import { isWebmaster } from '../../api/session.js';
import { setQuery, toHref, useUrl } from '../../lib/url.js';
import { LinkButton } from '../../parts/button.js';
import { ANY, SelectField, toChoices } from '../../parts/field.js';
import { List } from '../../parts/list.js';
import { Page } from '../../parts/page.js';
import { SearchField } from '../../parts/search-field.js';
import { UserLink } from '../../parts/user-link.js';
import { ColumnChoice } from './column-choice.js';
import { parseColumns } from './columns.js';
import { getExportUrl, searchUsers, toFilters, toQuery } from './search.js';
import { NO_SELECTION, type Selection, SelectionBar, createSelectionColumn } from './selection.js';

/** The list of users. The URL contains its search, filters, sort order and columns. */
export function UsersPage({ user }: { user: User }) {
  const { query } = useUrl();
  const isFull = isWebmaster(user);
  const list = useResource(JSON.stringify(toQuery(query)), (signal) => searchUsers(query, signal));
  const columns = parseColumns(query.get('columns'), isFull);
  const filters = toFilters(query);
  const search = JSON.stringify(filters);
  const [chosen, setChosen] = useState({ search, selection: NO_SELECTION });
  // A new search keeps individually selected users, but ends the selection of all matching users.
  const { ids, last } = chosen.selection;
  const selection = chosen.search === search ? chosen.selection : { ids, last, isAll: false };
  const select = (next: Selection): void => setChosen({ search, selection: next });
  const manager = query.get('manager_uuid');
  const text = query.get('q') ?? '';
  return (
    <Page
      title="Users"
      actions={
        <>
          <ColumnChoice chosen={columns} />
          {isFull && (
            <>
              <LinkButton text="Deleted users" href={toHref('/users/deleted', { q: text })} />
              <LinkButton text="New user" isPrimary href={toHref('/users/new')} />
              <LinkButton
                text="Export"
                href={getExportUrl(filters)}
                download
                title="Export all users in this list as CSV, in the columns of an import file"
              />
            </>
          )}
        </>
      }
    >
      <Filters isFull={isFull} />
      {isFull && <SelectionBar selection={selection} page={list.data} filters={filters} onChange={select} />}
      {isFull && query.get('role') && <p class="muted">{ROLE_RIGHTS}</p>}
      {manager && (
        <p>
          Direct reports of <UserLink id={manager} />. <a href={toHref('/users')}>Show all users</a>
        </p>
      )}
      <List
        caption="Users"
        list={list}
        unit="user"
        columns={isFull ? [createSelectionColumn(selection, list.data, select), ...columns] : columns}
        getKey={(each) => each.uuid}
        sort={query.get('sort') ?? (text ? '' : 'updated')}
        order={query.get('order') === 'asc' ? 'asc' : 'desc'}
        onSort={(sort, order) => setQuery({ sort, order, after: undefined })}
        empty={
          <>
            No users match.
            {isFull && text && (
              <>
                {' '}
                <a href={toHref('/users/deleted', { q: text })}>Search the deleted users</a>
              </>
            )}
          </>
        }
      />
    </Page>
  );
}

function Filters({ isFull }: { isFull: boolean }) {
  const { query } = useUrl();
  const roles = useRoles();
  const filter = (name: string) => ({
    name,
    value: query.get(name) ?? '',
    onValue: (chosen: string) => setQuery({ [name]: chosen, after: undefined }),
  });
  return (
    <div class="toolbar" role="search">
      <SearchField
        name="q"
        label="Search"
        placeholder="Name, e-mail, @domain, phone or ID"
        resets={['sort', 'order']}
      />
      {isFull && <SelectField {...filter('status')} choices={[ANY, ...toChoices(['Active', 'Blocked'])]} />}
      <SelectField {...filter('role')} choices={[ANY, ...toChoices(roles)]} />
      {isFull && (
        <SelectField
          {...filter('linked')}
          label="External ID"
          choices={[ANY, { value: 'yes', text: 'Set' }, { value: 'no', text: 'Not set' }]}
        />
      )}
      {isFull && <SearchField name="managed_by" label="Data set" placeholder="Any" maxLength={64} isSmall />}
    </div>
  );
}
