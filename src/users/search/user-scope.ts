import type { User } from '../model/user.js';

/** What one import looks after: the users of a data set, or of one part of it (null: of all of it). */
export interface UserScope {
  dataset: string;
  part: string | null;
}

/** Whether an import that lacks a user misses it. */
export function covers(
  { dataset, part }: UserScope,
  { managed_by, managed_part }: Pick<User, 'managed_by' | 'managed_part'>,
): boolean {
  return managed_by === dataset && (part === null || managed_part === part);
}

/** Whether a user has the mark of the import that listed it last. */
export function isMarked(
  { dataset, part }: UserScope,
  { managed_by, managed_part }: Pick<User, 'managed_by' | 'managed_part'>,
): boolean {
  return managed_by === dataset && managed_part === part;
}
