import { useState } from 'preact/hooks';
import { useAction } from '../../api/resource.js';
import { ProblemError } from '../../api/problem.js';
import { Confirm } from '../../parts/dialog.js';
import { Form } from '../../parts/form.js';
import { Card } from '../../parts/page.js';
import { useUnsavedWarning } from '../../lib/unsaved.js';
import { showToast } from '../../parts/toast.js';
import { ConflictDialog } from './conflict-dialog.js';
import { type Draft, findConflicts, findDifferences, toDraft, toInput, rebaseDraft } from './draft.js';
import { type UserVersion, loadUser, saveUser } from '../../api/users.js';
import { FIELDS, ProfileFields } from './profile-fields.js';

interface FormProps {
  opened: UserVersion;
  isFull: boolean;
  isSelf: boolean;
  onSaved: (next: UserVersion) => void;
  onClose: () => void;
}

const isWebmasterDraft = ({ roles }: Draft): boolean => Array.isArray(roles) && roles.includes('Webmaster');

/** The form of a profile. Changes that others save meanwhile are shown before they are overwritten. */
export function ProfileForm({ opened, isFull, isSelf, onSaved, onClose }: FormProps) {
  const [version, setVersion] = useState(opened);
  const [draft, setDraft] = useState<Draft>(() => toDraft(opened.user));
  const [theirs, setTheirs] = useState<UserVersion>();
  const [isConfirming, setConfirming] = useState(false);
  const action = useAction();
  const base = toDraft(version.user);
  useUnsavedWarning(findDifferences(base, draft).length > 0);
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
  // Users cannot undo the removal of their own Webmaster role.
  const needsConfirmation = isSelf && isWebmasterDraft(base) && !isWebmasterDraft(draft);
  return (
    <Card title="Profile">
      <Form
        action={action}
        work={async () => (needsConfirmation ? setConfirming(true) : save())}
        submitLabel="Save"
        cancelLabel="Discard"
        onCancel={onClose}
        fields={FIELDS}
      >
        {version.user.external_id && (
          <p class="hint">
            This user is linked to an identity source as {version.user.external_id}. The source may overwrite
            changes that you make here.
          </p>
        )}
        <ProfileFields draft={draft} setDraft={setDraft} isFull={isFull} />
      </Form>
      {isConfirming && (
        <Confirm
          title="Give up the Webmaster role"
          confirmLabel="Save"
          isDangerous
          work={save}
          onClose={() => setConfirming(false)}
        >
          <p>You are about to remove your own Webmaster role. Only another Webmaster can restore it.</p>
        </Confirm>
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
          onDiscard={() => onSaved(theirs)}
          onClose={() => setTheirs(undefined)}
        />
      )}
    </Card>
  );
}
