import { who } from '../../api/session.js';
import { Confirm } from '../../parts/dialog.js';
import type { Draft } from './draft.js';

const WEBMASTER = 'Webmaster';

const holds = ({ roles }: Draft): boolean => Array.isArray(roles) && roles.includes(WEBMASTER);

/** Whether who edits a profile takes from themselves what they cannot give back. */
export function losesWebmaster(uuid: string, base: Draft, draft: Draft): boolean {
  const reader = who.get();
  return 'user' in reader && reader.user.uuid === uuid && holds(base) && !holds(draft);
}

export const OwnRoleQuestion = (props: { work: (reason: string) => Promise<void>; onClose: () => void }) => (
  <Confirm title="Stop being a Webmaster" verb="Save" isDangerous {...props}>
    <p>You take the role from yourself: only another Webmaster can give it back.</p>
  </Confirm>
);
