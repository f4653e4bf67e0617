import { who } from '../../api/session.js';
import { Confirm } from '../../parts/dialog.js';
import type { Draft } from './draft.js';

const WEBMASTER = 'Webmaster';

const holds = ({ roles }: Draft): boolean => Array.isArray(roles) && roles.includes(WEBMASTER);

/** Returns true if users would remove the Webmaster role from their own profile, which they cannot undo. */
export function losesWebmaster(uuid: string, base: Draft, draft: Draft): boolean {
  const reader = who.get();
  return 'user' in reader && reader.user.uuid === uuid && holds(base) && !holds(draft);
}

export const OwnRoleQuestion = (props: { work: (reason: string) => Promise<void>; onClose: () => void }) => (
  <Confirm title="Give up the Webmaster role" verb="Save" isDangerous {...props}>
    <p>You are about to remove your own Webmaster role. Only another Webmaster can restore it.</p>
  </Confirm>
);
