import { useEffect, useState } from 'preact/hooks';
import type { User } from '../../api/client.js';
import { useResource } from '../../api/resource.js';
import { useRoles } from '../../api/roles.js';
import { isWebmaster } from '../../api/session.js';
import { setQuery, usePlace } from '../../lib/place.js';
import { useDelayed } from '../../lib/use-delayed.js';
import { SelectField, TextField } from '../../parts/field.js';
import { Icon } from '../../parts/icon.js';
import { Page } from '../../parts/page.js';
import { Pager } from '../../parts/pager.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { Table } from '../../parts/table.js';
import { ColumnChoice } from './column-choice.js';
import { chosenColumns } from './columns.js';
import { ExportButton } from './export-button.js';
import { searchUsers } from './search.js';

const PAUSE = 250;

/** The users: what is searched, filtered, sorted and shown stands in the address. */
export function UsersPage({ user }: { user: User }) {
  const { query } = usePlace();
  const asked = new URLSearchParams(query);
  asked.delete('columns');
  const { data, problem, isLoading } = useResource(asked.toString(), (signal) => searchUsers(asked, signal));
  const columns = chosenColumns(query.get('columns'));
  const isSearch = (query.get('q') ?? '') !== '';
  return (
    <Page
      title="Users"
      actions={
        <>
          <ColumnChoice chosen={columns} />
          <ExportButton query={asked} columns={columns} count={data?.count} />
        </>
      }
    >
      <Filters isFull={isWebmaster(user)} />
      <ProblemNote problem={problem} />
      {!(problem && !data) && (
        <Table
          caption="Users"
          columns={columns}
          rows={data?.users ?? []}
          keyOf={(each) => each.uuid}
          sort={query.get('sort') ?? (isSearch ? '' : 'updated')}
          order={query.get('order') === 'asc' ? 'asc' : 'desc'}
          onSort={(sort, order) => {
            setQuery({ sort, order, after: undefined });
          }}
          isLoading={isLoading}
          isUnknown={problem !== undefined && !data}
          empty="No user is like that."
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
  const { query } = usePlace();
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
      <Typed name="q" />
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
            { value: 'yes', text: 'With one' },
            { value: 'no', text: 'Without one' },
          ]}
        />
      )}
      {isFull && <Typed name="managed_by" />}
    </form>
  );
}

const TYPED = { q: 'Search', managed_by: 'Data set' } as const;

/** A text that changes the address when the reader pauses. */
function Typed({ name }: { name: keyof typeof TYPED }) {
  const { query } = usePlace();
  const current = query.get(name) ?? '';
  const [text, setText] = useState(current);
  const settled = useDelayed(text, PAUSE);
  useEffect(() => {
    setText(current); // the way back in the history
  }, [current]);
  useEffect(() => {
    // One entry of the history for a search, however many letters it has.
    if (settled === text && settled !== current)
      setQuery(
        { [name]: settled, after: undefined, ...(name === 'q' && { sort: undefined, order: undefined }) },
        { replace: current !== '' },
      );
  }, [settled]);
  const isSearch = name === 'q';
  return (
    <div class={isSearch ? 'search' : 'field'}>
      <TextField
        name={name}
        label={TYPED[name]}
        value={text}
        onValue={setText}
        input={{
          type: 'search',
          maxLength: isSearch ? 250 : 64,
          spellcheck: false,
          autocomplete: 'off',
          placeholder: isSearch ? 'Name, username, e-mail or external ID' : 'Any',
        }}
      />
      {isSearch && <Icon name="search" />}
    </div>
  );
}
