import { useState } from 'preact/hooks';
import type { User } from '../../api/client.js';
import { focusTitle } from '../../lib/focus.js';
import { getLabel } from '../../lib/text.js';
import { Button } from '../../parts/button.js';
import { ChangedValue } from '../../parts/change.js';
import { Card, FactList } from '../../parts/page.js';
import { UserLink } from '../../parts/user-link.js';
import { CHECKBOXES, LINES, NETWORKS, toDraft } from './draft.js';
import type { UserVersion } from '../../api/users.js';
import { ProfileForm } from './profile-form.js';

const SHOWN = [...LINES, 'roles', 'manager_uuid', 'authname', 'about_me', ...NETWORKS, ...CHECKBOXES];

interface ProfileProps {
  version: UserVersion;
  isFull: boolean;
  isSelf: boolean;
  onChange: (next: UserVersion) => void;
}

/** Shows a profile, or its form while it is edited. */
export function Profile({ version, isFull, isSelf, onChange }: ProfileProps) {
  const [isEditing, setEditing] = useState(false);
  const close = (): void => {
    setEditing(false);
    focusTitle();
  };
  if (isEditing)
    return (
      <ProfileForm
        opened={version}
        isFull={isFull}
        isSelf={isSelf}
        onSaved={(next) => {
          onChange(next);
          close();
        }}
        onClose={close}
      />
    );
  const edit = <Button text="Edit" icon="edit" onClick={() => setEditing(true)} />;
  return (
    <Card title="Profile" actions={(isFull || isSelf) && edit}>
      <ProfileFacts user={version.user} isFull={isFull} />
    </Card>
  );
}

/** Shows the fields of a profile. */
export function ProfileFacts({ user, isFull }: { user: User; isFull: boolean }) {
  const draft = toDraft(user);
  const facts = SHOWN.filter((field) => isFull || field !== 'authname').map((field) => {
    const manager = field === 'manager_uuid' && user.manager_uuid;
    const value = manager ? <UserLink id={manager} /> : <ChangedValue value={draft[field]} />;
    return [getLabel(field), value] as const;
  });
  return <FactList facts={facts} />;
}
