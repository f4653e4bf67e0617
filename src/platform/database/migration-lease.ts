import type { QueryRunner } from 'typeorm';
import { setTimeout as delay } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { isObject } from '../common/json.js';
import { repeated } from './engine/retry.js';
import { toDatabaseError } from './engine/database-fault.js';

/** A migrator that was killed holds up the next one for so long. */
const LEASE_SECONDS = 15;
const HEARTBEAT_MILLIS = 3000;
/** How long a migrator waits for the one before it. */
const PATIENCE_MILLIS = 5 * 60_000;
const POLL_MILLIS = 250;

const TABLE = `CREATE TABLE IF NOT EXISTS migration_lease (
  name varchar(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  owner char(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  until datetime(3) NOT NULL
) ENGINE = InnoDB`;
const ROW = `INSERT IGNORE INTO migration_lease (name, owner, until) VALUES ('migrations', '', '1970-01-01')`;
/** The database's clock, since the clocks of those that migrate may differ. */
const END = `UTC_TIMESTAMP(3) + INTERVAL ${LEASE_SECONDS} SECOND`;
const TAKE = `UPDATE migration_lease SET owner = ?, until = ${END} WHERE name = 'migrations' AND until < UTC_TIMESTAMP(3)`;
const RENEW = `UPDATE migration_lease SET until = ${END} WHERE name = 'migrations' AND owner = ?`;
const GIVE = `UPDATE migration_lease SET owner = '', until = '1970-01-01' WHERE name = 'migrations' AND owner = ?`;

/**
 * The right to change the schema, for one process at a time on all nodes of a cluster: a row that its owner renews. Two
 * nodes that take it at once are told apart by the certification of the row, and one that was killed loses it with
 * time. (`GET_LOCK` is known to one node, and Galera refuses it.)
 */
export class MigrationLease {
  private readonly owner = uuidv7();
  private heartbeat: NodeJS.Timeout | undefined;

  /** @param runner a connection of the lease's own: a change of a table may take long on the other one. */
  constructor(private readonly runner: QueryRunner) {}

  /** Waits for the lease. @throws Error when another process keeps it for five minutes. */
  async take(): Promise<void> {
    const until = Date.now() + PATIENCE_MILLIS;
    await this.change(TABLE);
    await this.change(ROW);
    while ((await this.change(TAKE, [this.owner])) === 0) {
      if (Date.now() > until) throw new Error('Another process has been migrating for five minutes.');
      await delay(POLL_MILLIS * (1 + Math.random()));
    }
    this.heartbeat = setInterval(() => void this.renew().catch(() => undefined), HEARTBEAT_MILLIS);
  }

  /** @throws Error when the lease is lost: whoever has it now goes on with the next step. */
  async renew(): Promise<void> {
    if ((await this.change(RENEW, [this.owner])) === 0)
      throw new Error('Another process has taken over the migration.');
  }

  async give(): Promise<void> {
    clearInterval(this.heartbeat);
    await this.change(GIVE, [this.owner]).catch(() => undefined); // it ends by itself
  }

  /** Runs a statement that is its own transaction, after a race again. @returns how many rows it has matched. */
  private async change(sql: string, params: string[] = []): Promise<number> {
    return repeated('statement', async () => {
      try {
        const result: unknown = await this.runner.query(sql, params);
        return isObject(result) && typeof result['affectedRows'] === 'number' ? result['affectedRows'] : 0;
      } catch (error) {
        throw toDatabaseError(error);
      }
    });
  }
}
