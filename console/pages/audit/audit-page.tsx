import { useResource } from '../../api/resource.js';
import { useUrl } from '../../lib/url.js';
import { getLabel, formatNumber, formatValue, formatCode } from '../../lib/text.js';
import { Change } from '../../parts/change.js';
import { Copy } from '../../parts/copy.js';
import { SelectField, TextField } from '../../parts/field.js';
import { NAME_INPUT, TimeField, createFilter } from '../../parts/filters.js';
import { Page } from '../../parts/page.js';
import { Pager } from '../../parts/pager.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { type Column, Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { ACTIONS } from './actions.js';
import { type Event, type Seal, loadEvents, loadSeal } from './audit.js';
import { Actor, Party } from './parties.js';

const KINDS = ['user', 'key', 'import', 'system', 'anonymous'];
const INITIAL_CHANGES = 3;
const LEAD = 'Who did what, when and from where.';

const COLUMNS: readonly Column<Event>[] = [
  { name: 'time', title: 'Time', cell: ({ time }) => <Time at={time} isShort={false} /> },
  { name: 'action', title: 'Action', cell: ({ action }) => formatCode(action) },
  { name: 'actor', title: 'Actor', cell: ({ actor }) => <Actor actor={actor} /> },
  { name: 'target', title: 'Target', cell: ({ target }) => <Party {...target} /> },
  { name: 'changes', title: 'Changes', cell: (event) => <Changes event={event} /> },
  {
    name: 'from',
    title: 'Source',
    cell: ({ ip, request_id }) => (
      <details class="small">
        <summary>{ip || 'internal'}</summary>
        Request <Copy text={request_id} what="request id" />
      </details>
    ),
  },
];

/** The list of audit events, newest first. */
export function AuditPage() {
  const { query } = useUrl();
  const { data, problem, isLoading } = useResource(query.toString(), (signal) => loadEvents(query, signal));
  const filter = createFilter(query, problem, data?.unknown);
  const { data: seal, isLoading: isSealLoading } = useResource('seal', loadSeal);
  return (
    <Page
      title="Audit"
      lead={isSealLoading ? LEAD : <SealStatus seal={seal} />}
      actions={
        data?.file && (
          <a class="button" href={data.file} download>
            Download
          </a>
        )
      }
    >
      <div class="toolbar">
        <SelectField
          {...filter('action')}
          label="Action"
          choices={[
            { value: '', text: 'Any' },
            ...ACTIONS.map((value) => ({ value, text: formatCode(value) })),
          ]}
        />
        <SelectField
          {...filter('actor_kind')}
          label="Actor type"
          choices={[
            { value: '', text: 'Any' },
            ...KINDS.map((value) => ({ value, text: formatCode(value) })),
          ]}
        />
        <TextField {...filter('actor')} label="Actor" input={NAME_INPUT} />
        <TextField {...filter('target')} label="Target" input={NAME_INPUT} />
        <TimeField {...filter('since')} label="Since" />
        <TimeField {...filter('until')} label="Before" />
      </div>
      <ProblemNote problem={problem} />
      <Table
        caption="Audit"
        columns={COLUMNS}
        rows={data?.events ?? []}
        getKey={({ id }) => id}
        isLoading={isLoading && !data}
        hasFailed={problem !== undefined && !data}
        empty={data?.unknown ? 'No events are shown for an unknown user.' : 'No events match these filters.'}
      />
      <Pager
        count={data?.count}
        shown={data?.events.length ?? 0}
        unit={['event', data?.isExact === false ? 'events or more' : 'events']}
        next={data?.next ?? ''}
      />
    </Page>
  );
}

/** Shows until when the audit is sealed. Later changes to sealed events are detectable. */
const SealStatus = ({ seal }: { seal: Seal | undefined }) =>
  seal && seal.number + seal.events > 1 ? (
    <>
      {LEAD} Sealed up to <Time at={seal.until} /> (seal {formatNumber(seal.number)}). Run{' '}
      <code>rollcall audit verify</code> to detect changed events.
    </>
  ) : (
    <>{LEAD} Nothing is sealed yet. Each hour is sealed after it has ended.</>
  );

function Changes({ event: { changes, reason } }: { event: Event }) {
  const [first, others] = [changes.slice(0, INITIAL_CHANGES), changes.slice(INITIAL_CHANGES)];
  return (
    <>
      {reason && <p class="reason">{reason}</p>}
      <ChangedFields changes={first} />
      {others.length > 0 && (
        <details>
          <summary class="muted">and {others.length} more</summary>
          <ChangedFields changes={others} />
        </details>
      )}
    </>
  );
}

const ChangedFields = ({ changes }: { changes: Event['changes'] }) => (
  <dl class="diff">
    {changes.map((change) => (
      <div key={change.field}>
        <dt>{getLabel(change.field)}</dt>
        <dd>
          <ChangedValue change={change} />
        </dd>
      </div>
    ))}
  </dl>
);

/** Shows a changed value as old → new, or only the new value if there was none. Secrets have no values. */
function ChangedValue({ change }: { change: Event['changes'][number] }) {
  if (!('old' in change || 'new' in change)) return <span class="muted">changed</span>;
  const { old_name: before, new_name: after } = change;
  const [from, to] = [truncateValue(before || change.old), truncateValue(after || change.new)];
  return from === '' ? <>{to}</> : <Change of={{ old: from, new: to }} />;
}

const MAX_CHARACTERS = 80;
const truncateValue = (value: unknown): string => {
  const text = formatValue(value);
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
};
