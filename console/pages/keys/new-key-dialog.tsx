import { useState } from 'preact/hooks';
import { type Action, useAction } from '../../api/resource.js';
import { useUnsaved } from '../../lib/unsaved.js';
import { Copy } from '../../parts/copy.js';
import { Dialog } from '../../parts/dialog.js';
import { SelectField, TextField } from '../../parts/field.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { type NewKey, SCOPES, createKey } from './keys.js';

const FIELDS = ['name', 'expires', 'networks'];
const PROVIDERS = ['standard', 'entra', 'okta', 'midpoint'] as const;
const DAY = 86_400_000;

/** What a key may do: everything only where that was said. */
type Scopes = readonly string[] | 'all';

/** Makes a key, and shows it once. */
export function NewKeyDialog({ onClose }: { onClose: () => void }) {
  const [made, setMade] = useState<NewKey>();
  const action = useAction();
  useUnsaved(made !== undefined); // nobody can show it again
  if (made)
    return (
      <Dialog key="made" title={`The key ${made.name}`} onClose={onClose} isWide isHeld>
        <form method="dialog">
          <p>Copy it now: it is not kept, and nobody can show it again.</p>
          <p>
            <Copy text={made.key} what="key" />
          </p>
          <div class="buttons end">
            <button type="submit" class="primary">
              I have copied it
            </button>
          </div>
        </form>
      </Dialog>
    );
  return (
    // While it is being made nothing closes it: a key that nobody has seen would stay.
    <Dialog title="New API key" onClose={onClose} isWide isHeld={action.isBusy}>
      <Form
        action={action}
        onMade={setMade}
        onClose={() => {
          if (!action.isBusy) onClose();
        }}
      />
    </Dialog>
  );
}

interface FormProps {
  action: Action;
  onMade: (key: NewKey) => void;
  onClose: () => void;
}

function Form({ action, onMade, onClose }: FormProps) {
  // The same request again, when its answer is lost, is to be the same.
  const [opened] = useState(Date.now);
  const [name, setName] = useState('');
  const [days, setDays] = useState('90');
  const [networks, setNetworks] = useState('');
  const [profile, setProfile] = useState<string>('standard');
  const [scopes, setScopes] = useState<Scopes>(['users:read']);
  useUnsaved(name !== '' || networks !== '');
  const create = (): Promise<boolean> =>
    action.run(async () => {
      const list = networks.split(/[\s,]+/).filter(Boolean);
      const key = await createKey({
        name,
        profile: PROVIDERS.find((each) => each === profile) ?? 'standard',
        ...(scopes !== 'all' && { scopes: [...scopes] }),
        ...(list.length > 0 && { networks: list }),
        ...(days !== '' && { expires: new Date(opened + Number(days) * DAY).toISOString() }),
      });
      onMade(key);
    });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void create();
      }}
    >
      <TextField
        name="name"
        label="What it is for"
        value={name}
        onValue={setName}
        error={action.problem?.at('name')}
        input={{ required: true, maxLength: 255, autofocus: true }}
      />
      <ScopeChoice scopes={scopes} onChange={setScopes} />
      <div class="form-grid">
        <SelectField
          name="expires"
          label="Ends"
          value={days}
          onValue={setDays}
          error={action.problem?.at('expires')}
          choices={[
            { value: '30', text: 'in 30 days' },
            { value: '90', text: 'in 90 days' },
            { value: '365', text: 'in a year' },
            { value: '', text: 'never' },
          ]}
        />
        <TextField
          name="networks"
          label="Only from these networks"
          hint="Such as 10.0.0.0/8; anywhere, if empty."
          value={networks}
          onValue={setNetworks}
          error={action.problem?.at('networks')}
        />
        <SelectField
          name="profile"
          label="Identity provider"
          hint="For SCIM; it cannot be changed later."
          value={profile}
          onValue={setProfile}
          choices={PROVIDERS.map((each) => ({ value: each, text: each }))}
        />
      </div>
      <ProblemNote problem={action.problem} fields={FIELDS} />
      <div class="buttons end">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" class="primary" disabled={action.isBusy || scopes.length === 0}>
          Create the key
        </button>
      </div>
    </form>
  );
}

function ScopeChoice({ scopes, onChange }: { scopes: Scopes; onChange: (scopes: Scopes) => void }) {
  const isAll = scopes === 'all';
  return (
    <fieldset>
      <legend>What it may do</legend>
      {SCOPES.map(([scope, meaning]) => (
        <label key={scope} class="check">
          <input
            type="checkbox"
            checked={isAll || scopes.includes(scope)}
            disabled={isAll}
            onChange={(event) => {
              const others = isAll ? [] : scopes.filter((each) => each !== scope);
              onChange(event.currentTarget.checked ? [...others, scope] : others);
            }}
          />
          <span>
            <code>{scope}</code> <span class="muted">{meaning}</span>
          </span>
        </label>
      ))}
      <label class="check">
        <input
          type="checkbox"
          checked={isAll}
          onChange={(event) => {
            onChange(event.currentTarget.checked ? 'all' : []);
          }}
        />
        <span>
          Everything <span class="muted">that a Webmaster may do, and what later versions add</span>
        </span>
      </label>
      {scopes.length === 0 && <p class="error">Choose at least one.</p>}
    </fieldset>
  );
}
