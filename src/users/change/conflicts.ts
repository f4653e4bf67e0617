import { type Conflict, ProblemError } from '../../common/errors.js';
import { IDENTIFYING, type Identifier, identifiersOf } from '../model/keys.js';
import type { Draft } from './change-set.js';

/** The identifiers that a set takes and does not have yet: those that may be in somebody else's hands. */
export function takenIdentifiers(drafts: readonly Draft[]): string[] {
  const taken = drafts.filter((draft) => !draft.error).flatMap((draft) => moved(draft).taken);
  return [...new Set(taken.map(({ identifier }) => identifier))];
}

/** What a draft gives up and what it takes. */
export function moved({ before, after }: Draft): { given: Identifier[]; taken: Identifier[] } {
  // Most changes are of something else, and to make identifiers takes longer than to see that.
  if (before && IDENTIFYING.every((field) => before[field] === after[field])) return { given: [], taken: [] };
  const old = before ? identifiersOf(before) : [];
  const own = identifiersOf(after);
  return { given: without(old, own), taken: without(own, old) };
}

function without(list: readonly Identifier[], others: readonly Identifier[]): Identifier[] {
  const known = new Set(others.map(({ identifier }) => identifier));
  return list.filter(({ identifier }) => !known.has(identifier));
}

/**
 * Marks the drafts whose identifiers belong to somebody else at the end of the set, so that chains and swaps inside
 * a set work. `owners` says who holds an identifier in the database. A draft that fails keeps what it had, which may
 * fail another one: the caller repeats until nothing new fails.
 */
export function markConflicts(drafts: readonly Draft[], owners: ReadonlyMap<string, string>): boolean {
  const live = drafts.filter((draft) => !draft.error);
  const holders = new Map([...owners].map(([identifier, uuid]) => [identifier, new Set([uuid])]));
  for (const draft of live) {
    const { given, taken } = moved(draft);
    for (const { identifier } of given) holders.get(identifier)?.delete(draft.after.uuid);
    for (const { identifier } of taken) {
      holders.set(identifier, (holders.get(identifier) ?? new Set()).add(draft.after.uuid));
    }
  }
  for (const draft of live) draft.error = conflictError(draft, holders);
  return live.some((draft) => draft.error);
}

function conflictError(
  draft: Draft,
  holders: ReadonlyMap<string, ReadonlySet<string>>,
): ProblemError | undefined {
  if (holders.size === 0) return undefined;
  const conflicts = identifiersOf(draft.after).flatMap(({ field, identifier }): (Conflict & Identifier)[] =>
    [...(holders.get(identifier) ?? [])]
      .filter((uuid) => uuid !== draft.after.uuid)
      .map((uuid) => ({ field, uuid, identifier })),
  );
  const [first] = conflicts;
  if (!first) return undefined;
  const detail = conflicts.map(({ field, uuid }) => `${field} belongs to user ${uuid}`).join('; ');
  return new ProblemError(`${first.field}_taken`, `Nothing was changed: ${detail}.`, {
    conflicts: conflicts.map(({ field, uuid }) => ({ field, uuid })),
  });
}
