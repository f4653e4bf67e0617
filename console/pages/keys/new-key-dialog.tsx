import { useState } from 'preact/hooks';
import { useAction } from '../../api/resource.js';
import { useUnsavedWarning } from '../../lib/unsaved.js';
import { Dialog, SecretDialog } from '../../parts/dialog.js';
import { CheckField, SelectField, TextField, toChoices, toggle } from '../../parts/field.js';
import { Form } from '../../parts/form.js';
import { DAY, type NewKey, SCOPES, createKey } from './keys.js';

const FIELDS = ['name', 'expires', 'networks'];
const PROVIDERS = ['standard', 'entra', 'okta', 'midpoint'] as const;

/** Creates a key and shows it once. */
export function NewKeyDialog({ onClose }: { onClose: () => void }) {
  // Fixed at opening, so that repeating a request with a lost response sends the same body.
  const [opened] = useState(Date.now);
  const [name, setName] = useState('');
  const [days, setDays] = useState('90');
  const [networks, setNetworks] = useState('');
  const [profile, setProfile] = useState<string>('standard');
  const [scopes, setScopes] = useState<readonly string[]>(['users:read']);
  const [created, setCreated] = useState<NewKey>();
  const action = useAction();
  useUnsavedWarning(name !== '' || networks !== ''); // also while the new key is shown, because it cannot be shown again
  const create = async (): Promise<void> => {
    const list = networks.split(/[\s,]+/).filter(Boolean);
    const body = {
      name,
      profile: PROVIDERS.find((each) => each === profile) ?? 'standard',
      ...(!scopes.includes(ALL) && { scopes: [...scopes] }),
      ...(list.length > 0 && { networks: list }),
      ...(days !== '' && { expires: new Date(opened + Number(days) * DAY).toISOString() }),
    };
    setCreated(await createKey(body));
  };
  // The dialog stays open while the key is being created. Otherwise a key would exist that was never shown.
  const cancel = action.isBusy ? () => undefined : onClose;
  if (created)
    return (
      <SecretDialog title={`API key ${created.name}`} secret={created.key} what="key" onClose={onClose}>
        Copy the key now. It is not stored and cannot be shown again.
      </SecretDialog>
    );
  return (
    <Dialog title="New API key" onClose={cancel} isWide isPersistent={action.isBusy}>
      <Form
        action={action}
        work={create}
        submitLabel="Create key"
        onCancel={cancel}
        fields={FIELDS}
        isDisabled={scopes.length === 0}
      >
        <TextField
          name="name"
          label="Purpose"
          value={name}
          onValue={setName}
          input={{ required: true, maxLength: 255, autofocus: true }}
        />
        <ScopeChoice scopes={scopes} onChange={setScopes} />
        <div class="form-grid">
          <SelectField
            name="expires"
            label="Expires"
            value={days}
            onValue={setDays}
            choices={[
              { value: '30', text: 'in 30 days' },
              { value: '90', text: 'in 90 days' },
              { value: '365', text: 'in a year' },
              { value: '', text: 'never' },
            ]}
          />
          <TextField
            name="networks"
            label="Allowed networks"
            hint="For example 10.0.0.0/8. If empty, the key works from any network."
            value={networks}
            onValue={setNetworks}
          />
          <SelectField
            name="profile"
            label="Identity provider"
            hint="Used for SCIM. It cannot be changed later."
            value={profile}
            onValue={setProfile}
            choices={toChoices(PROVIDERS)}
          />
        </div>
      </Form>
    </Dialog>
  );
}

/** Grants full access, instead of single scopes. */
const ALL = 'all';
const CHOICES = [...SCOPES, [ALL, 'all rights of a Webmaster, including future rights']] as const;

function ScopeChoice(props: { scopes: readonly string[]; onChange: (scopes: string[]) => void }) {
  const { scopes, onChange } = props;
  const isAll = scopes.includes(ALL);
  return (
    <fieldset>
      <legend>Permissions</legend>
      {CHOICES.map(([scope, meaning]) => (
        <CheckField
          key={scope}
          name={scope}
          label={
            <span>
              {scope === ALL ? 'Full access' : <code>{scope}</code>} <span class="muted">{meaning}</span>
            </span>
          }
          value={isAll || scopes.includes(scope)}
          isDisabled={isAll && scope !== ALL}
          onValue={(isChosen) => onChange(toggle(scope === ALL ? [] : scopes, scope, isChosen))}
        />
      ))}
      {scopes.length === 0 && <p class="error">Choose at least one permission.</p>}
    </fieldset>
  );
}
