import { sessionState } from '../../api/session.js';
import { Confirm } from '../../parts/dialog.js';
import type { Draft } from './draft.js';

const WEBMASTER = 'Webmaster';

const isWebmasterDraft = ({ roles }: Draft): boolean => Array.isArray(roles) && roles.includes(WEBMASTER);

/** Returns true if users would remove the Webmaster role from their own profile, which they cannot undo. */
export function removesOwnWebmaster(uuid: string, base: Draft, draft: Draft): boolean {
  const reader = sessionState.get();
  return 'user' in reader && reader.user.uuid === uuid && isWebmasterDraft(base) && !isWebmasterDraft(draft);
}

export const OwnRoleConfirmation = (props: {
  work: (reason: string) => Promise<void>;
  onClose: () => void;
}) => (
  <Confirm title="Give up the Webmaster role" confirmLabel="Save" isDangerous {...props}>
    <p>You are about to remove your own Webmaster role. Only another Webmaster can restore it.</p>
  </Confirm>
);
