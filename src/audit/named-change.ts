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

/** @param usernameOf a uuid → the name today; empty for who is not there any more. */
export function sideNames(change: AuditChange, usernameOf: (uuid: string) => string): SideNames {
  const named = usersNamedBy(change);
  const nameOf = (side: unknown) => usernameOf(String(side));
  return {
    ...(named.some((uuid) => uuid === change.old) && { old_name: nameOf(change.old) }),
    ...(named.some((uuid) => uuid === change.new) && { new_name: nameOf(change.new) }),
  };
}
