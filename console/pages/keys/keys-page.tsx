import { useState } from 'preact/hooks';
import { useResource } from '../../api/resource.js';
import { href, usePlace } from '../../lib/place.js';
import { Confirm } from '../../parts/dialog.js';
import { Page } from '../../parts/page.js';
import { Pager } from '../../parts/pager.js';
import { Pill } from '../../parts/pill.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { type Column, Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { say } from '../../parts/toast.js';
import { type Key, daysLeft, loadKeys, openFuse, revokeKey } from './keys.js';
import { NewKeyDialog } from './new-key-dialog.js';

/** Days before expiry from which a key is highlighted. */
const SOON = 30;
type Question = { key: Key; what: 'revoke' | 'fuse' };

/** The list of API keys with their scopes, networks, expiry and last use. */
export function KeysPage() {
  const { query } = usePlace();
  const after = query.get('after') ?? '';
  const { data, problem, isLoading, reload } = useResource(after || 'first', (signal) =>
    loadKeys(after, signal),
  );
  const [isMaking, setMaking] = useState(false);
  const [question, setQuestion] = useState<Question>();
  return (
    <Page
      title="API keys"
      lead="Credentials of connectors and identity providers."
      actions={
        <button
          type="button"
          class="primary"
          onClick={() => {
            setMaking(true);
          }}
        >
          New key
        </button>
      }
    >
      <ProblemNote problem={problem} />
      <Table
        caption="API keys"
        columns={columnsFor(setQuestion)}
        rows={data?.keys ?? []}
        keyOf={({ id }) => id}
        isLoading={isLoading && !data}
        isUnknown={problem !== undefined && !data}
      />
      <Pager
        count={data?.count}
        shown={data?.keys.length ?? 0}
        unit={['key', 'keys']}
        next={data?.next ?? ''}
      />
      {isMaking && (
        <NewKeyDialog
          onClose={() => {
            setMaking(false);
            reload();
          }}
        />
      )}
      {question && (
        <Ask
          question={question}
          onClose={() => {
            setQuestion(undefined);
            reload();
          }}
        />
      )}
    </Page>
  );
}

const columnsFor = (ask: (question: Question) => void): readonly Column<Key>[] => [
  {
    name: 'name',
    title: 'Name',
    cell: ({ name, id, profile }) => (
      <span>
        {name}
        <br />
        <span class="muted small">
          <code>{id.slice(-12)}</code>
          {profile !== 'standard' && ` · ${profile}`}
        </span>
      </span>
    ),
  },
  { name: 'state', title: 'State', cell: (key) => <State of={key} /> },
  {
    name: 'scopes',
    title: 'Scopes',
    cell: ({ scopes }) =>
      scopes === null ? (
        <Pill tone="warn">full access</Pill>
      ) : (
        <span class="tags">
          {scopes.map((scope) => (
            <span key={scope} class="tag">
              {scope}
            </span>
          ))}
        </span>
      ),
  },
  { name: 'networks', title: 'Networks', cell: ({ networks }) => networks?.join(', ') ?? 'anywhere' },
  {
    name: 'used',
    title: 'Last used',
    cell: ({ last_used, last_address }) => (
      <span>
        <Time at={last_used} />
        {last_address && (
          <>
            <br />
            <span class="muted small">{last_address}</span>
          </>
        )}
      </span>
    ),
  },
  { name: 'created', title: 'Created', cell: ({ created }) => <Time at={created} /> },
  {
    name: 'actions',
    title: 'Actions',
    cell: (key) =>
      key.state === 'active' && (
        <span class="buttons">
          <a class="button" href={href('/audit', { actor: key.id })}>
            Activity
          </a>
          {mayBlock(key) && (
            <button
              type="button"
              onClick={() => {
                ask({ key, what: 'fuse' });
              }}
            >
              Suspend fuse
            </button>
          )}
          <button
            type="button"
            onClick={() => {
              ask({ key, what: 'revoke' });
            }}
          >
            Revoke
          </button>
        </span>
      ),
  },
];

/** Returns true if a key may block users and therefore has a fuse. */
const mayBlock = ({ scopes }: Key): boolean =>
  scopes === null || ['users:write', 'imports:write'].some((scope) => scopes.includes(scope));

function State({ of: key }: { of: Key }) {
  const left = daysLeft(key);
  if (key.state !== 'active') return <Pill tone="quiet">{key.state}</Pill>;
  if (left === undefined) return <Pill tone="good">active</Pill>;
  if (left > SOON)
    return (
      <>
        <Pill tone="good">active</Pill>
        <br />
        <span class="muted small">
          until <Time at={key.expires} isShort={false} />
        </span>
      </>
    );
  return <Pill tone="warn">{left <= 1 ? 'expires today' : `expires in ${left} days`}</Pill>;
}

function Ask({ question: { key, what }, onClose }: { question: Question; onClose: () => void }) {
  if (what === 'fuse')
    return (
      <Confirm
        title={`Suspend the fuse of ${key.name}`}
        verb="Suspend for an hour"
        isDangerous
        onClose={onClose}
        work={async (reason) => {
          await openFuse(key.id, reason);
          say(`The fuse of ${key.name} is suspended for an hour.`);
        }}
      >
        <p>
          The fuse stops a key that blocks too many users within an hour. If you suspend it, this key may
          block and delete any number of users for the next hour. Continue only if you trust its connector.
        </p>
      </Confirm>
    );
  return (
    <Confirm
      title={`Revoke ${key.name}`}
      verb="Revoke"
      isDangerous
      onClose={onClose}
      work={async (reason) => {
        await revokeKey(key.id, reason);
        say(`${key.name} was revoked.`);
      }}
    >
      <p>Further requests with this key are rejected immediately. A revoked key cannot be restored.</p>
    </Confirm>
  );
}
