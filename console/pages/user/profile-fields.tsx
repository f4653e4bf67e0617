import type { ComponentChildren } from 'preact';
import { useContext, useId } from 'preact/hooks';
import { ROLE_RIGHTS } from '../../api/roles.js';
import { getLabel } from '../../lib/text.js';
import { CheckField, FieldErrors, LongField, RoleFields, TextField } from '../../parts/field.js';
import { CHECKBOXES, type Draft, LINES, NETWORKS, OTHER_TEXTS, type Value, canEdit } from './draft.js';
import { ManagerField } from './manager-field.js';

/** Fields with an error of their own. */
export const FIELDS = [...LINES, ...OTHER_TEXTS, 'social_media', 'roles'];
interface FieldsProps {
  draft: Draft;
  setDraft: (change: (current: Draft) => Draft) => void;
  isFull: boolean;
}

/** The inputs of a profile. */
export function ProfileFields({ draft, setDraft, isFull }: FieldsProps) {
  const setField = (field: string) => (value: Value) =>
    setDraft((current) => ({ ...current, [field]: value }));
  const field = (name: string) => ({
    name,
    value: String(draft[name]),
    onValue: setField(name),
  });
  const renderTextField = (name: string) => (
    <TextField
      key={name}
      {...field(name)}
      label={name === 'user_avatar' ? 'Picture (URL)' : getLabel(name)}
      input={{ autocomplete: 'off', spellcheck: false, required: name === 'username' || name === 'email' }}
    />
  );
  const canEditField = (field: string): boolean => canEdit(field, isFull);
  return (
    <div class="grid">
      {LINES.filter(canEditField).map(renderTextField)}
      {canEditField('manager_uuid') && <ManagerField {...field('manager_uuid')} />}
      {renderTextField('user_avatar')}
      <Group name="social_media">
        <div class="grid">{NETWORKS.map(renderTextField)}</div>
      </Group>
      {canEditField('roles') && (
        <Group name="roles">
          <p class="hint">{ROLE_RIGHTS}</p>
          <RoleFields
            chosen={toList(draft['roles'])}
            onChange={(roles) => setField('roles')(roles.toSorted())}
          />
        </Group>
      )}
      {canEditField('authname') && (
        <LongField
          {...field('authname')}
          hint="One per line, such as saml: jane.doe@idp.example.org"
          rows={2}
        />
      )}
      <LongField {...field('about_me')} />
      <div>
        {CHECKBOXES.map((name) => (
          <CheckField key={name} name={name} value={draft[name] === true} onValue={setField(name)} />
        ))}
      </div>
    </div>
  );
}

const toList = (value: Value | undefined): readonly string[] =>
  Array.isArray(value) ? (value as string[]) : [];

/** A group of inputs for one field of the API, with one error. */
function Group({ name, children }: { name: string; children: ComponentChildren }) {
  const [title, error] = [getLabel(name), useContext(FieldErrors)(name)];
  const id = useId();
  return (
    <fieldset class={error ? 'wrong' : ''} aria-describedby={error ? id : undefined}>
      <legend>{title}</legend>
      {children}
      {error && (
        <p id={id} class="error">
          {title} {error}.
        </p>
      )}
    </fieldset>
  );
}
