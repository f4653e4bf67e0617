import { randomBytes } from 'node:crypto';
import { DatabaseError, type Fault } from './database-error.js';
import type { Engine, Sql } from './sql.js';

/** Time for which a successful probe is not repeated, because every client may request a probe. */
const VALID_MILLIS = 1000;
/** Faults that are remembered, because the next probe may succeed in spite of them. */
const REMEMBERED: readonly Fault[] = ['full', 'disk_error', 'read_only', 'damaged'];
/** Size of the probe's row on SQLite. The row needs new pages, so that a full file is noticed. */
const SQLITE_LENGTH = 64 * 1024;

/**
 * Checks that a write would succeed now. The write is rolled back, so it costs no sync of the disk. After a write of
 * the service has failed, the probe commits, because only a commit shows that the disk accepts writes again.
 */
export class WriteProbe {
  private remembered: DatabaseError | undefined;
  private validUntil = 0;

  /** Records the error of a statement, and returns it. */
  record<E>(error: E): E {
    if (!(error instanceof DatabaseError) || error.fault === 'race' || error.fault === 'duplicate')
      return error;
    this.validUntil = 0;
    if (REMEMBERED.includes(error.fault) && this.remembered?.fault !== 'damaged') this.remembered = error;
    return error;
  }

  /**
   * Tries a write.
   * @param check runs in the transaction of the write, before the write.
   * @throws DatabaseError if the write fails, or if a statement has met damage since the start.
   */
  async run(database: Engine, check?: (sql: Sql) => Promise<void>): Promise<void> {
    if (this.remembered?.fault === 'damaged') throw this.remembered;
    if (performance.now() < this.validUntil) return;
    const tx = await database.begin();
    // Instances must not wait for each other, so each probe inserts a different row.
    const name = randomBytes(16).toString('hex');
    const row = tx.dialect === 'sqlite' ? name.padEnd(SQLITE_LENGTH) : name;
    try {
      await check?.(tx);
      await tx.execute("INSERT INTO leases (name, owner, until) VALUES (?, '', '1970-01-01')", [row]);
      if (this.remembered) {
        await tx.execute('DELETE FROM leases WHERE name = ?', [row]);
        await tx.commit();
        this.remembered = undefined;
      }
    } finally {
      await tx.rollback().catch(() => undefined); // report the first error, not the error of the rollback
    }
    this.validUntil = performance.now() + VALID_MILLIS;
  }
}
