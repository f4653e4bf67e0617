import type { User } from '../model/user.js';

/** Users that one import manages: a data set, or one part of it. A null part means the whole data set. */
export interface UserScope {
  dataset: string;
  part: string | null;
}

/** Returns true if an import with this scope reports the user as missing when its file does not contain the user. */
export function isInScope(
  { dataset, part }: UserScope,
  { managed_by, managed_part }: Pick<User, 'managed_by' | 'managed_part'>,
): boolean {
  return managed_by === dataset && (part === null || managed_part === part);
}

/** Returns true if the user is assigned to exactly this data set and part. */
export function isAssignedTo(
  { dataset, part }: UserScope,
  { managed_by, managed_part }: Pick<User, 'managed_by' | 'managed_part'>,
): boolean {
  return managed_by === dataset && managed_part === part;
}
