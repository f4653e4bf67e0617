import { useState } from 'preact/hooks';
import { useResource } from '../../api/resource.js';
import { toHref, useUrl } from '../../lib/url.js';
import { Confirm } from '../../parts/dialog.js';
import { Page } from '../../parts/page.js';
import { Pager } from '../../parts/pager.js';
import { Pill } from '../../parts/pill.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { type Column, Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { showToast } from '../../parts/toast.js';
import { type Key, getDaysLeft, loadKeys, suspendFuse, revokeKey } from './keys.js';
import { NewKeyDialog } from './new-key-dialog.js';

/** Days before expiry from which a key is highlighted. */
const SOON_DAYS = 30;
type KeyAction = { key: Key; action: 'revoke' | 'fuse' };

/** The list of API keys with their scopes, networks, expiry and last use. */
export function KeysPage() {
  const { query } = useUrl();
  const after = query.get('after') ?? '';
  const { data, problem, isLoading, reload } = useResource(after || 'first', (signal) =>
    loadKeys(after, signal),
  );
  const [isCreating, setCreating] = useState(false);
  const [pendingAction, setPendingAction] = useState<KeyAction>();
  return (
    <Page
      title="API keys"
      lead="Credentials of connectors and identity providers."
      actions={
        <button type="button" class="primary" onClick={() => setCreating(true)}>
          New key
        </button>
      }
    >
      <ProblemNote problem={problem} />
      <Table
        caption="API keys"
        columns={buildColumns(setPendingAction)}
        rows={data?.keys ?? []}
        getKey={({ id }) => id}
        isLoading={isLoading && !data}
        hasFailed={problem !== undefined && !data}
      />
      <Pager
        count={data?.count}
        shown={data?.keys.length ?? 0}
        unit={['key', 'keys']}
        next={data?.next ?? ''}
      />
      {isCreating && (
        <NewKeyDialog
          onClose={() => {
            setCreating(false);
            reload();
          }}
        />
      )}
      {pendingAction && (
        <KeyActionConfirmation
          pendingAction={pendingAction}
          onClose={() => {
            setPendingAction(undefined);
            reload();
          }}
        />
      )}
    </Page>
  );
}

const buildColumns = (onAction: (pendingAction: KeyAction) => void): readonly Column<Key>[] => [
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
          <a class="button" href={toHref('/audit', { actor: key.id })}>
            Activity
          </a>
          {key.fuse_blown && (
            <button type="button" onClick={() => onAction({ key, action: 'fuse' })}>
              Suspend fuse
            </button>
          )}
          <button type="button" onClick={() => onAction({ key, action: 'revoke' })}>
            Revoke
          </button>
        </span>
      ),
  },
];

function State({ of: key }: { of: Key }) {
  const left = getDaysLeft(key);
  if (key.state !== 'active') return <Pill tone="quiet">{key.state}</Pill>;
  if (left === undefined)
    return (
      <>
        <Pill tone="good">active</Pill>
        <br />
        <span class="muted small">never expires</span>
      </>
    );
  const isSoon = left <= SOON_DAYS;
  const text = !isSoon ? 'active' : left <= 1 ? 'expires today' : `expires in ${left} days`;
  return (
    <>
      <Pill tone={isSoon ? 'warn' : 'good'}>{text}</Pill>
      <br />
      <span class="muted small">
        until <Time at={key.expires} isShort={false} />
      </span>
    </>
  );
}

function KeyActionConfirmation({
  pendingAction: { key, action },
  onClose,
}: {
  pendingAction: KeyAction;
  onClose: () => void;
}) {
  if (action === 'fuse')
    return (
      <Confirm
        title={`Suspend the fuse of ${key.name}`}
        confirmLabel="Suspend for an hour"
        isDangerous
        onClose={onClose}
        work={async (reason) => {
          await suspendFuse(key.id, reason);
          showToast(`The fuse of ${key.name} is suspended for an hour.`);
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
      confirmLabel="Revoke"
      isDangerous
      onClose={onClose}
      work={async (reason) => {
        await revokeKey(key.id, reason);
        showToast(`${key.name} was revoked.`);
      }}
    >
      <p>Further requests with this key are rejected immediately. A revoked key cannot be restored.</p>
    </Confirm>
  );
}
