import { isBusy } from '../engine/database-fault.js';
import { SqliteConnection } from './sqlite-connection.js';

/** Pages of the log at which it is written back: 8 MiB, which take some milliseconds. */
const PAGES = 2048;

/** Milliseconds that a checkpoint waits for the write lock of another program. */
const LOCK_MILLIS = 50;

/** Counts of a log: its pages, and those of them that are written back. The log begins anew once both are equal. */
interface LogSize {
  log: number;
  checkpointed: number;
}

/** Writes the log of an embedded database back into the file. */
export class Checkpointer {
  private readonly lock: SqliteConnection;

  /** @param connection one that has no transaction open. */
  constructor(
    private readonly connection: SqliteConnection,
    file: string,
  ) {
    this.lock = SqliteConnection.open(file);
    this.lock.exec(`PRAGMA cache_size = 1; PRAGMA busy_timeout = ${LOCK_MILLIS}`); // it never reads
  }

  /**
   * Writes back all pages of the log that no reader still needs. SQLite lets a checkpoint run while another connection commits, where
   * versions before 3.51.3 can lose the commit. So a second connection holds the write lock until the end, and no program
   * writes meanwhile.
   * @returns false where another program holds the write lock: nothing was written back then.
   */
  writeBack(): boolean {
    try {
      this.lock.exec('BEGIN IMMEDIATE');
    } catch (error) {
      if (isBusy(error)) return false;
      throw error;
    }
    try {
      this.connection.query('PRAGMA wal_checkpoint(PASSIVE)', []);
    } finally {
      this.lock.exec('ROLLBACK');
    }
    return true;
  }

  close(): void {
    this.lock.close();
  }
}

/**
 * Keeps the log of an embedded database short. SQLite would write it back inside of a COMMIT. Here that is done in another
 * process where there is one, with the write lock, for which the writers of this service wait.
 */
export class Checkpoints {
  private due = PAGES;
  private busy = false;

  /** @param writeBack calls `Checkpointer.writeBack` with the write lock. */
  constructor(
    private readonly connection: SqliteConnection,
    private readonly writeBack: () => Promise<boolean>,
  ) {}

  /** Looks at the log after a commit, which costs a microsecond. */
  committed(): void {
    if (this.busy || this.pages() < this.due) return;
    this.busy = true;
    this.run()
      .catch(() => undefined) // the next commit finds the log due again
      .finally(() => {
        this.busy = false;
      });
  }

  private async run(): Promise<void> {
    // Pages that a reader still needs stay in the log. The next attempt follows after another 8 MiB.
    if (await this.writeBack()) this.due = this.pages() + PAGES;
  }

  /** Pages that are not written back. NOOP takes no lock and changes nothing. */
  private pages(): number {
    const { log, checkpointed } = this.connection.first('PRAGMA wal_checkpoint(NOOP)', []) as LogSize;
    return log - checkpointed;
  }
}
