import type { AuditChange } from './audit-event.js';

/** The usernames of the users that a change names, where it names any. */
export interface SideNames {
  old_name?: string;
  new_name?: string;
}

/** Fields whose values are uuids of users. */
const USER_FIELDS: readonly string[] = ['manager_uuid'];

/** The uuids of the users that a change names. */
export function usersNamedBy({ field, old, new: value }: AuditChange): string[] {
  if (!USER_FIELDS.includes(field)) return [];
  return [old, value].filter((uuid) => typeof uuid === 'string' && uuid !== '') as string[];
}

/** @param usernameOf a uuid → the name today; empty for a user who is deleted. */
export function sideNames(change: AuditChange, usernameOf: (uuid: string) => string): SideNames {
  const names = new Map<unknown, string>(usersNamedBy(change).map((uuid) => [uuid, usernameOf(uuid)]));
  const [before, after] = [names.get(change.old), names.get(change.new)];
  return {
    ...(before !== undefined && { old_name: before }),
    ...(after !== undefined && { new_name: after }),
  };
}
