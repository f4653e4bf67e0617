import { useState } from 'preact/hooks';
import { toHref } from '../../lib/url.js';
import { Button, LinkButton } from '../../parts/button.js';
import { ConfirmButton } from '../../parts/dialog.js';
import { List, useList } from '../../parts/list.js';
import { Page } from '../../parts/page.js';
import { Pill, Tags } from '../../parts/pill.js';
import type { Column } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { type Key, getDaysLeft, loadKeys, suspendFuse, revokeKey } from './keys.js';
import { NewKeyDialog } from './new-key-dialog.js';

/** Days before expiry from which a key is highlighted. */
const SOON_DAYS = 30;

/** The list of API keys with their scopes, networks, expiry and last use. */
export function KeysPage() {
  const { list } = useList(loadKeys);
  const [isCreating, setCreating] = useState(false);
  return (
    <Page
      title="API keys"
      lead="Credentials of connectors and identity providers."
      actions={<Button text="New key" kind="primary" onClick={() => setCreating(true)} />}
    >
      <List
        caption="API keys"
        list={list}
        unit="key"
        getKey={({ id }) => id}
        columns={buildColumns(list.reload)}
      />
      {isCreating && (
        <NewKeyDialog
          onClose={() => {
            setCreating(false);
            list.reload();
          }}
        />
      )}
    </Page>
  );
}

const buildColumns = (onClose: () => void): readonly Column<Key>[] => [
  {
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
  { title: 'State', cell: (key) => <State of={key} /> },
  {
    title: 'Scopes',
    cell: ({ scopes }) => (scopes === null ? <Pill tone="warn">full access</Pill> : <Tags values={scopes} />),
  },
  { title: 'Networks', cell: ({ networks }) => networks?.join(', ') ?? 'anywhere' },
  {
    title: 'Last used',
    cell: ({ last_used, last_address }) => (
      <span>
        <Time at={last_used} />
        {last_address && <br />}
        <span class="muted small">{last_address}</span>
      </span>
    ),
  },
  { title: 'Created', cell: ({ created }) => <Time at={created} /> },
  { title: 'Actions', cell: (key) => key.state === 'active' && <Actions of={key} onClose={onClose} /> },
];

function State({ of: key }: { of: Key }) {
  if (key.state !== 'active') return <Pill tone="quiet">{key.state}</Pill>;
  const left = getDaysLeft(key);
  const isSoon = left <= SOON_DAYS;
  const text = !isSoon ? 'active' : left <= 1 ? 'expires today' : `expires in ${left} days`;
  return (
    <>
      <Pill tone={isSoon ? 'warn' : 'good'}>{text}</Pill>
      <br />
      <span class="muted small">
        {key.expires ? 'until ' : 'never expires'}
        {key.expires && <Time at={key.expires} isShort={false} />}
      </span>
    </>
  );
}

const Actions = ({ of: { id, name, fuse_blown }, onClose }: { of: Key; onClose: () => void }) => (
  <span class="buttons">
    <LinkButton text="Activity" href={toHref('/audit', { actor: id })} />
    {fuse_blown && (
      <ConfirmButton
        text="Suspend fuse"
        title={`Suspend the fuse of ${name}`}
        confirmLabel="Suspend for an hour"
        isDangerous
        onClose={onClose}
        work={(reason) => suspendFuse(id, reason)}
        successText={`The fuse of ${name} is suspended for an hour.`}
      >
        <p>
          The fuse stops a key that blocks too many users within an hour. If you suspend it, this key may
          block and delete any number of users for the next hour. Continue only if you trust its connector.
        </p>
      </ConfirmButton>
    )}
    <ConfirmButton
      text="Revoke"
      title={`Revoke ${name}`}
      isDangerous
      onClose={onClose}
      work={(reason) => revokeKey(id, reason)}
      successText={`${name} was revoked.`}
    >
      <p>Further requests with this key are rejected immediately. A revoked key cannot be restored.</p>
    </ConfirmButton>
  </span>
);
