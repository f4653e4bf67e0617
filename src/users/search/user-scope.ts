import type { User } from '../model/user.js';

/** The users whom one import manages: one part of a data set, or the whole data set if the part is null. */
export interface UserScope {
  dataset: string;
  part: string | null;
}

type ManagedBy = Pick<User, 'managed_by' | 'managed_part'>;

export function isAssignedTo({ dataset, part }: UserScope, { managed_by, managed_part }: ManagedBy): boolean {
  return managed_by === dataset && managed_part === part;
}
