import { serviceInfo } from '../../api/client.js';
import { getAllRoles } from '../../api/session.js';
import { type UserVersion, deleteUser } from '../../api/users.js';
import { formatCount } from '../../lib/text.js';
import { navigate, toHref } from '../../lib/url.js';
import { getDisplayName } from '../../parts/avatar.js';
import { ConfirmButton } from '../../parts/dialog.js';
import { ReportsNote } from './reports-note.js';

/** Deletes a user after a confirmation. For a Webmaster, the operator must type the username. */
export function DeleteButton({ version }: { version: UserVersion }) {
  const { user } = version;
  const name = getDisplayName(user);
  return (
    <ConfirmButton
      text="Delete"
      title={`Delete ${name}`}
      isDangerous
      typed={getAllRoles(user).includes('Webmaster') ? user.username : undefined}
      work={async (reason) => {
        await deleteUser(version, reason);
        navigate(toHref(`/users/deleted/${user.uuid}`));
      }}
      successText={`${name} was deleted.`}
    >
      <p>
        {name} can no longer sign in and leaves all groups. You can restore the user for{' '}
        {formatCount(serviceInfo.get().deleted_days, 'day')}. To keep the record, block the user instead.
      </p>
      <ReportsNote
        uuid={user.uuid}
        effect="will have no manager. If you restore this user, you can reassign them."
      />
    </ConfirmButton>
  );
}
