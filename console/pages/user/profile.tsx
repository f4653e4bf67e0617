import { useState } from 'preact/hooks';
import type { User } from '../../api/client.js';
import { focusTitle } from '../../lib/focus.js';
import { getLabel, formatValue } from '../../lib/text.js';
import { Icon } from '../../parts/icon.js';
import { Card } from '../../parts/page.js';
import { UserLink } from '../../parts/user-link.js';
import { CONTACTS, LINES, toDraft } from './draft.js';
import { Fact } from './facts.js';
import type { UserVersion } from '../../api/users.js';
import { ProfileForm } from './profile-form.js';

const SHOWN = [
  ...LINES,
  ...CONTACTS,
  'roles',
  'manager_uuid',
  'authname',
  'about_me',
  'social_media.linkedin',
  'social_media.facebook',
  'social_media.twitter',
  'hide_email',
  'hide_phone_numbers',
];

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
        onSaved={(next) => {
          onChange(next);
          close();
        }}
        onClose={close}
      />
    );
  const edit = (
    <button
      type="button"
      onClick={() => {
        setEditing(true);
      }}
    >
      <Icon name="edit" />
      Edit
    </button>
  );
  return (
    <Card title="Profile" actions={(isFull || isSelf) && edit}>
      <ProfileFacts user={version.user} isFull={isFull} />
    </Card>
  );
}

/** Shows the fields of a profile. */
export function ProfileFacts({ user, isFull }: { user: User; isFull: boolean }) {
  const draft = toDraft(user);
  return (
    <dl class="facts">
      {SHOWN.filter((field) => isFull || field !== 'authname').map((field) => {
        const text = formatValue(draft[field]);
        return (
          <Fact key={field} name={field.startsWith('social_media.') ? getLabel(field.slice(13)) : field}>
            {field === 'manager_uuid' && user.manager_uuid ? (
              <UserLink id={user.manager_uuid} />
            ) : text === '' ? (
              <span class="none">empty</span>
            ) : (
              text
            )}
          </Fact>
        );
      })}
    </dl>
  );
}
