import type { User } from '../model/user.js';

/** The users whom one import looks after: those of a data set, or of one part of it (null: those of no part). */
export interface UserScope {
  dataset: string;
  part: string | null;
}

export function isInScope(
  { dataset, part }: UserScope,
  { managed_by, managed_part }: Pick<User, 'managed_by' | 'managed_part'>,
): boolean {
  return managed_by === dataset && managed_part === part;
}
