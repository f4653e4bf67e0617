import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { ProblemError } from '../../api/problem.js';
import { ROLE_RIGHTS, useRoles } from '../../api/roles.js';
import { CheckField, LongField, TextField } from '../../parts/field.js';
import { CONTACTS, type Draft, LINES, type Value, canEdit } from './draft.js';
import { ManagerField } from './manager-field.js';

const NAMES = [...LINES, ...CONTACTS];
const NETWORKS = ['social_media.linkedin', 'social_media.facebook', 'social_media.twitter'];
/** Fields with an error of their own. */
export const FIELDS = [
  ...NAMES,
  'user_avatar',
  'social_media',
  'roles',
  'authname',
  'about_me',
  'manager_uuid',
];
const LABELS: Record<string, string> = {
  user_avatar: 'Picture (URL)',
  'social_media.linkedin': 'LinkedIn',
  'social_media.facebook': 'Facebook',
  'social_media.twitter': 'Twitter',
};

interface FieldsProps {
  draft: Draft;
  setField: (field: string) => (value: Value) => void;
  problem: ProblemError | undefined;
  isFull: boolean;
}

/** The inputs of a profile, with the errors of the service. */
export function ProfileFields({ draft, setField, problem, isFull }: FieldsProps) {
  const renderTextField = (field: string) => (
    <TextField
      key={field}
      name={field}
      {...(LABELS[field] && { label: LABELS[field] })}
      value={String(draft[field])}
      onValue={setField(field)}
      error={field.includes('.') ? undefined : problem?.getFieldError(field)}
      input={{ autocomplete: 'off', spellcheck: false, required: field === 'username' || field === 'email' }}
    />
  );
  const canEditField = (field: string): boolean => canEdit(field, isFull);
  return (
    <div class="grid">
      {NAMES.filter(canEditField).map(renderTextField)}
      {canEditField('manager_uuid') && (
        <ManagerField
          value={String(draft['manager_uuid'])}
          onValue={setField('manager_uuid')}
          error={problem?.getFieldError('manager_uuid')}
        />
      )}
      {renderTextField('user_avatar')}
      <Group title="Social media" error={problem?.getFieldError('social_media')}>
        <div class="grid">{NETWORKS.map(renderTextField)}</div>
      </Group>
      {canEditField('roles') && (
        <Roles
          value={toList(draft['roles'])}
          onValue={setField('roles')}
          error={problem?.getFieldError('roles')}
        />
      )}
      {canEditField('authname') && (
        <LongField
          name="authname"
          hint="One per line, such as saml: jane.doe@idp.example.org"
          rows={2}
          value={String(draft['authname'])}
          onValue={setField('authname')}
          error={problem?.getFieldError('authname')}
        />
      )}
      <LongField
        name="about_me"
        value={String(draft['about_me'])}
        onValue={setField('about_me')}
        error={problem?.getFieldError('about_me')}
      />
      <div>
        {['hide_email', 'hide_phone_numbers'].map((field) => (
          <CheckField key={field} name={field} value={draft[field] === true} onValue={setField(field)} />
        ))}
      </div>
    </div>
  );
}

const toList = (value: Value | undefined): readonly string[] =>
  Array.isArray(value) ? (value as string[]) : [];

function Roles(props: {
  value: readonly string[];
  onValue: (value: string[]) => void;
  error: string | undefined;
}) {
  const { value, onValue, error } = props;
  const all = useRoles(value);
  return (
    <Group title="Roles" error={error}>
      <p class="hint">{ROLE_RIGHTS}</p>
      <div class="choices">
        {all.map((role) => (
          <CheckField
            key={role}
            name="roles"
            label={role}
            value={value.includes(role)}
            onValue={(isChecked) => {
              onValue((isChecked ? [...value, role] : value.filter((each) => each !== role)).toSorted());
            }}
          />
        ))}
      </div>
    </Group>
  );
}

/** A group of inputs for one field of the API, with one error. */
function Group(props: { title: string; error: string | undefined; children: ComponentChildren }) {
  const { title, error, children } = props;
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
