import type { User } from '../model/user.js';

/** The users whom one import manages: one part of a data set, or the whole data set if the part is null. */
export interface UserScope {
  dataset: string;
  part: string | null;
}

type ManagedBy = Pick<User, 'managed_by' | 'managed_part'>;

/**
 * Returns true if the user is in this scope. Only such users count as missing if an import file does not contain them.
 */
export function isInScope({ dataset, part }: UserScope, { managed_by, managed_part }: ManagedBy): boolean {
  return managed_by === dataset && (part === null || managed_part === part);
}

export function isAssignedTo({ dataset, part }: UserScope, { managed_by, managed_part }: ManagedBy): boolean {
  return managed_by === dataset && managed_part === part;
}
