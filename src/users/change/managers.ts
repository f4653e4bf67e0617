import { validationFailed } from '../../common/errors.js';
import type { Draft } from './change-set.js';

/** The drafts that give their user another manager: only those can break a rule about managers. */
export function newManagers(drafts: readonly Draft[]): Draft[] {
  return drafts.filter(
    ({ error, before, after }) =>
      !error && after.manager_uuid !== null && after.manager_uuid !== (before?.manager_uuid ?? null),
  );
}

/**
 * Marks the drafts whose manager does not exist or stands below them. `chain` maps every user above the drafts to
 * that user's manager, as the database has it; the set's own changes are laid over it.
 */
export function markManagers(drafts: readonly Draft[], chain: ReadonlyMap<string, string | null>): boolean {
  const managers = new Map(chain);
  for (const { error, after } of drafts) if (!error) managers.set(after.uuid, after.manager_uuid);
  const failed = newManagers(drafts).filter((draft) => {
    const code = managerFault(draft.after.uuid, managers);
    if (!code) return false;
    const message = code === 'cycle' ? 'may not stand below the user' : 'must be the uuid of a user';
    draft.error = validationFailed([{ field: 'manager_uuid', code, message }]);
    return true;
  });
  return failed.length > 0;
}

function managerFault(
  uuid: string,
  managers: ReadonlyMap<string, string | null>,
): 'unknown_reference' | 'cycle' | undefined {
  const first = managers.get(uuid);
  if (first && !managers.has(first)) return 'unknown_reference';
  const seen = new Set([uuid]);
  for (let above = first; above; above = managers.get(above)) {
    if (seen.has(above)) return above === uuid ? 'cycle' : undefined;
    seen.add(above);
  }
  return undefined;
}
