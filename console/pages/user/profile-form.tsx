import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { useAction } from '../../api/resource.js';
import { Problem } from '../../api/problem.js';
import { useRoles } from '../../api/roles.js';
import { CheckField, LongField, TextField } from '../../parts/field.js';
import { Card } from '../../parts/page.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { useUnsaved } from '../../lib/unsaved.js';
import { say } from '../../parts/toast.js';
import { ConflictDialog } from './conflict-dialog.js';
import {
  type Draft,
  type Value,
  conflictsOf,
  differing,
  draftOf,
  inputOf,
  mayEdit,
  rebased,
} from './draft.js';
import { type Version, loadUser, saveUser } from '../../api/users.js';
import { ManagerField } from './manager-field.js';
import { OwnRoleQuestion, losesWebmaster } from './own-role-question.js';

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
  opened: Version;
  isFull: boolean;
  onSaved: (next: Version) => void;
  onClose: () => void;
}

/** The form of a profile. Changes that others save meanwhile are shown before they are overwritten. */
export function ProfileForm({ opened, isFull, onSaved, onClose }: FormProps) {
  const [version, setVersion] = useState(opened);
  const [draft, setDraft] = useState<Draft>(() => draftOf(opened.user));
  const [theirs, setTheirs] = useState<Version>();
  const [isAsked, setAsked] = useState(false);
  const { run, isBusy, problem } = useAction();
  const base = draftOf(version.user);
  useUnsaved(differing(base, draft).length > 0);
  const put = (field: string) => (value: Value) => {
    setDraft((current) => ({ ...current, [field]: value }));
  };
  const save = async (reason = ''): Promise<void> => {
    if (differing(base, draft).length === 0) {
      onClose();
      return;
    }
    try {
      onSaved(await saveUser(version, inputOf(base, draft), reason));
      say('Profile saved.');
    } catch (thrown) {
      if (!(thrown instanceof Problem) || thrown.status !== 412) throw thrown;
      setTheirs(await loadUser(version.user.uuid));
    }
  };
  const losesOwn = losesWebmaster(version.user.uuid, base, draft);
  const text = (field: string) => (
    <TextField
      key={field}
      name={field}
      {...(LABELS[field] && { label: LABELS[field] })}
      value={String(draft[field])}
      onValue={put(field)}
      error={field.includes('.') ? undefined : problem?.at(field)}
      input={{ autocomplete: 'off', spellcheck: false, required: field === 'username' || field === 'email' }}
    />
  );
  const may = (field: string): boolean => mayEdit(field, isFull);
  return (
    <Card title="Profile">
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (losesOwn) setAsked(true);
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
          {NAMES.filter(may).map(text)}
          {may('manager_uuid') && (
            <ManagerField
              value={String(draft['manager_uuid'])}
              onValue={put('manager_uuid')}
              error={problem?.at('manager_uuid')}
            />
          )}
          {text('user_avatar')}
          <Group title="Social media" error={problem?.at('social_media')}>
            <div class="grid">{NETWORKS.map(text)}</div>
          </Group>
          {may('roles') && (
            <Roles value={listOf(draft['roles'])} onValue={put('roles')} error={problem?.at('roles')} />
          )}
          {may('authname') && (
            <LongField
              name="authname"
              hint="One per line, such as saml: jane.doe@idp.example.org"
              rows={2}
              value={String(draft['authname'])}
              onValue={put('authname')}
              error={problem?.at('authname')}
            />
          )}
          <LongField
            name="about_me"
            value={String(draft['about_me'])}
            onValue={put('about_me')}
            error={problem?.at('about_me')}
          />
          <div>
            {['hide_email', 'hide_phone_numbers'].map((field) => (
              <CheckField key={field} name={field} value={draft[field] === true} onValue={put(field)} />
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
      {isAsked && (
        <OwnRoleQuestion
          work={save}
          onClose={() => {
            setAsked(false);
          }}
        />
      )}
      {theirs && (
        <ConflictDialog
          conflicts={conflictsOf(base, draftOf(theirs.user), draft)}
          at={theirs.user.updated}
          onKeep={(keep) => {
            setDraft(rebased(base, draftOf(theirs.user), draft, keep));
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

const listOf = (value: Value | undefined): readonly string[] =>
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
            onValue={(isHeld) => {
              onValue((isHeld ? [...value, role] : value.filter((each) => each !== role)).toSorted());
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
