import type { SetConstraint } from './set-constraint.js';

/** A change of a set, with its effects on other users if it has any. */
interface Candidate {
  uuid: string;
  constraint: SetConstraint | undefined;
}

/**
 * Finds the changes that write data that an earlier change of the set reads or writes, or that read data that an
 * earlier change writes. Without these changes, the set has the same result in any order.
 * @param managers maps users to their managers, for all direct and indirect managers that the changes assign.
 * @returns the positions of the changes in the set, from 0.
 */
export function findDependentChanges(
  candidates: readonly Candidate[],
  managers: ReadonlyMap<string, string | null>,
): ReadonlySet<number> {
  const dependent = new Set<number>();
  const written = new Set<string>();
  const read = new Set<string>();
  for (const [index, candidate] of candidates.entries()) {
    const writes = listWrites(candidate);
    const reads = [...listChain(candidate.constraint?.manager?.after ?? null, managers, read)];
    if (
      writes.some((item) => written.has(item) || read.has(item)) ||
      reads.some((item) => written.has(item))
    ) {
      dependent.add(index);
      continue;
    }
    for (const item of writes) written.add(item);
    for (const item of reads) read.add(item);
  }
  return dependent;
}

function listWrites({ uuid, constraint }: Candidate): string[] {
  if (!constraint) return [toUserItem(uuid)];
  const { released, taken, webmaster } = constraint;
  const identifiers = [...released, ...taken].map(({ identifier }) => `identifier ${identifier}`);
  return [toUserItem(uuid), ...identifiers, ...(webmaster ? ['webmasters'] : [])];
}

/**
 * Lists a manager and all direct and indirect managers of this manager. Stops at a cycle, and at a manager who is already
 * in `read`, because all managers of that manager are in `read` too.
 */
function listChain(
  manager: string | null,
  managers: ReadonlyMap<string, string | null>,
  read: ReadonlySet<string>,
): Set<string> {
  const chain = new Set<string>();
  const isListed = (user: string): boolean => chain.has(toUserItem(user)) || read.has(toUserItem(user));
  for (let next = manager; next !== null && !isListed(next); next = managers.get(next) ?? null)
    chain.add(toUserItem(next));
  return chain;
}

const toUserItem = (uuid: string): string => `user ${uuid}`;
