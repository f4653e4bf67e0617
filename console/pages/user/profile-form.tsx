import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { useAction } from '../../api/resource.js';
import { ProblemError } from '../../api/problem.js';
import { useRoles } from '../../api/roles.js';
import { CheckField, LongField, TextField } from '../../parts/field.js';
import { Card } from '../../parts/page.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { useUnsavedWarning } from '../../lib/unsaved.js';
import { showToast } from '../../parts/toast.js';
import { ConflictDialog } from './conflict-dialog.js';
import {
  type Draft,
  type Value,
  findConflicts,
  findDifferences,
  toDraft,
  toInput,
  canEdit,
  rebaseDraft,
} from './draft.js';
import { type UserVersion, loadUser, saveUser } from '../../api/users.js';
import { ManagerField } from './manager-field.js';
import { OwnRoleConfirmation, removesOwnWebmaster } from './own-role-confirmation.js';

const NAMES = [
  'username',
  'email',
  'external_id',
  'firstname',
  'middle_name',
  'surname',
  'known_as',
  'phone',
  'mobile',
];
const NETWORKS = ['social_media.linkedin', 'social_media.facebook', 'social_media.twitter'];
const FIELDS = [...NAMES, 'user_avatar', 'social_media', 'roles', 'authname', 'about_me', 'manager_uuid'];
const LABELS: Record<string, string> = {
  user_avatar: 'Picture (URL)',
  'social_media.linkedin': 'LinkedIn',
  'social_media.facebook': 'Facebook',
  'social_media.twitter': 'Twitter',
};

interface FormProps {
  opened: UserVersion;
  isFull: boolean;
  onSaved: (next: UserVersion) => void;
  onClose: () => void;
}

/** The form of a profile. Changes that others save meanwhile are shown before they are overwritten. */
export function ProfileForm({ opened, isFull, onSaved, onClose }: FormProps) {
  const [version, setVersion] = useState(opened);
  const [draft, setDraft] = useState<Draft>(() => toDraft(opened.user));
  const [theirs, setTheirs] = useState<UserVersion>();
  const [isConfirming, setConfirming] = useState(false);
  const { run, isBusy, problem } = useAction();
  const base = toDraft(version.user);
  useUnsavedWarning(findDifferences(base, draft).length > 0);
  const setField = (field: string) => (value: Value) => {
    setDraft((current) => ({ ...current, [field]: value }));
  };
  const save = async (reason = ''): Promise<void> => {
    if (findDifferences(base, draft).length === 0) {
      onClose();
      return;
    }
    try {
      onSaved(await saveUser(version, toInput(base, draft), reason));
      showToast('Profile saved.');
    } catch (thrown) {
      if (!(thrown instanceof ProblemError) || thrown.status !== 412) throw thrown;
      setTheirs(await loadUser(version.user.uuid));
    }
  };
  const needsConfirmation = removesOwnWebmaster(version.user.uuid, base, draft);
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
    <Card title="Profile">
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (needsConfirmation) setConfirming(true);
          else void run(() => save());
        }}
      >
        {version.user.external_id && (
          <p class="hint">
            This user is linked to an identity source as {version.user.external_id}. The source may overwrite
            changes that you make here.
          </p>
        )}
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
        <ProblemNote problem={problem} fields={FIELDS} />
        <div class="buttons end">
          <button type="button" onClick={onClose}>
            Discard
          </button>
          <button type="submit" class="primary" disabled={isBusy}>
            Save
          </button>
        </div>
      </form>
      {isConfirming && (
        <OwnRoleConfirmation
          work={save}
          onClose={() => {
            setConfirming(false);
          }}
        />
      )}
      {theirs && (
        <ConflictDialog
          conflicts={findConflicts(base, toDraft(theirs.user), draft)}
          at={theirs.user.updated}
          onKeep={(keep) => {
            setDraft(rebaseDraft(base, toDraft(theirs.user), draft, keep));
            setVersion(theirs);
            setTheirs(undefined);
          }}
          onDiscard={() => {
            onSaved(theirs);
          }}
          onClose={() => {
            setTheirs(undefined);
          }}
        />
      )}
    </Card>
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
