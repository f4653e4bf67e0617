import type { FieldChange } from '../../platform/common/field-changes.js';
import { computeHash64 } from '../../users/set-rules/number-collections.js';
import type { StagedRow } from '../runs/import-row.js';

/** Maximum number of stored changes. Each change needs about 48 bytes. */
const MAX_CHANGES = 2 ** 18;
/**
 * Number of bits for the change in a key, which also contains 32 bits for the user. JavaScript represents integers of
 * up to 53 bits exactly.
 */
const CHANGE_BITS = 21;

const BOOKKEEPING: ReadonlySet<string> = new Set(['managed_by', 'managed_part', 'blocked_by']);

/**
 * Returns the changes of a row for a comparison with another run. Blocking or deleting a user undoes the creation of the
 * user.
 */
export function listChanges({ outcome, changes }: StagedRow): readonly FieldChange[] {
  if (outcome === 'created') return [{ field: 'status', old: 'Blocked', new: 'Active' }];
  if (outcome === 'deleted') return [{ field: 'status', old: 'Active', new: 'Blocked' }];
  return changes.list.filter(({ field }) => !BOOKKEEPING.has(field));
}

/**
 * Changes of a plan, for the comparison with earlier runs. Finds a change by its user, field and new value. Stores up
 * to 262,144 changes. For a larger plan, stores only the changes of a sample of users.
 */
export class PlannedChanges {
  /** Maps the key of a change to the line of its row. */
  private readonly lines = new Map<number, number>();
  private readonly foundKeys = new Set<number>();
  /** Number of low bits that must be 0 in the hash of a sampled user. Each further bit halves the sample. */
  private zeroBits = 0;

  get size(): number {
    return this.lines.size;
  }

  /** Number of changes that `findLine` has found. */
  get found(): number {
    return this.foundKeys.size;
  }

  addRow(row: StagedRow): void {
    // A re-created user has a different UUID from the deleted user with the same external id.
    const user = row.outcome === 'created' ? row.external_id : row.user_uuid;
    if (user === null || !this.isSampled(user)) return;
    for (const { field, new: value } of listChanges(row)) this.lines.set(keyOf(user, field, value), row.line);
    while (this.lines.size > MAX_CHANGES) {
      this.zeroBits++;
      for (const key of this.lines.keys())
        if (!this.isSampledHash(Math.floor(key / 2 ** CHANGE_BITS))) this.lines.delete(key);
    }
  }

  /** Returns the line of the row that sets a field of a user to this value, or undefined if no row does. */
  findLine(user: string, field: string, value: unknown): number | undefined {
    const key = keyOf(user, field, value);
    const line = this.lines.get(key);
    if (line !== undefined) this.foundKeys.add(key);
    return line;
  }

  isSampled(user: string): boolean {
    return this.isSampledHash(computeHash64(user)[0] >>> 0);
  }

  private isSampledHash(userHash: number): boolean {
    return userHash % 2 ** this.zeroBits === 0;
  }
}

function keyOf(user: string, field: string, value: unknown): number {
  const [change] = computeHash64(`${user} ${field} ${JSON.stringify(value ?? null)}`);
  return (computeHash64(user)[0] >>> 0) * 2 ** CHANGE_BITS + (change >>> (32 - CHANGE_BITS));
}

/** Yields the changes of an earlier row that the plan undoes, with the line of the plan. */
export function* findChangesBack(
  row: StagedRow,
  planned: PlannedChanges,
): Generator<FieldChange & { line: number }> {
  const user = row.outcome === 'deleted' ? row.external_id : row.user_uuid;
  for (const change of user === null ? [] : listChanges(row)) {
    const line = planned.findLine(user ?? '', change.field, change.old);
    if (line !== undefined) yield { ...change, line };
  }
}
