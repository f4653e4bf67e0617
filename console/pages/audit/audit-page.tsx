import { formatCode } from '../../lib/text.js';
import { LinkButton } from '../../parts/button.js';
import { ChangeList } from '../../parts/change.js';
import { ANY, SelectField, TextField, toChoices } from '../../parts/field.js';
import { NAME_INPUT, TimeField, createFilter } from '../../parts/filters.js';
import { List, useList } from '../../parts/list.js';
import { Page } from '../../parts/page.js';
import type { Column } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { ACTIONS } from './actions.js';
import { type Event, loadEventPage } from './audit.js';
import { Actor, PartyName, Source } from './parties.js';

const KINDS = ['user', 'key', 'import', 'system', 'anonymous'];
const INITIAL_CHANGES = 3;
/** Maximum length of a shown value, in characters. */
const MAX_LENGTH = 80;

const COLUMNS: readonly Column<Event>[] = [
  { title: 'Time', cell: ({ time }) => <Time at={time} isShort={false} /> },
  { title: 'Action', cell: ({ action }) => formatCode(action) },
  { title: 'Actor', cell: ({ actor }) => <Actor actor={actor} /> },
  { title: 'Target', cell: ({ target }) => <PartyName of={target} /> },
  { title: 'Changes', cell: (event) => <Changes event={event} /> },
  { title: 'Source', cell: (event) => <Source of={event} /> },
];

/** The list of audit events, newest first. */
export function AuditPage() {
  const { query, list } = useList(loadEventPage);
  const filter = createFilter(query, list);
  return (
    <Page
      title="Audit"
      lead="Who did what, when and from where."
      actions={list.data?.file && <LinkButton text="Download" href={list.data.file} download />}
    >
      <div class="toolbar">
        <SelectField {...filter('action')} choices={[ANY, ...toChoices(ACTIONS, formatCode)]} />
        <SelectField {...filter('actor_kind')} choices={[ANY, ...toChoices(KINDS, formatCode)]} />
        <TextField {...filter('actor')} input={NAME_INPUT} />
        <TextField {...filter('target')} input={NAME_INPUT} />
        <TimeField {...filter('since')} label="Since" />
        <TimeField {...filter('until')} label="Before" />
      </div>
      <List
        caption="Audit"
        list={list}
        unit="event"
        columns={COLUMNS}
        getKey={({ id }) => id}
        empty={
          list.data?.unknown ? 'No events are shown for an unknown user.' : 'No events match these filters.'
        }
      />
    </Page>
  );
}

function Changes({ event: { changes, reason } }: { event: Event }) {
  const [first, others] = [changes.slice(0, INITIAL_CHANGES), changes.slice(INITIAL_CHANGES)];
  return (
    <>
      {reason && <p class="reason">{reason}</p>}
      <ChangeList changes={first} maxLength={MAX_LENGTH} />
      {others.length > 0 && (
        <details>
          <summary class="muted">and {others.length} more</summary>
          <ChangeList changes={others} maxLength={MAX_LENGTH} />
        </details>
      )}
    </>
  );
}
