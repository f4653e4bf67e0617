import { beforeAll, expect, test } from '@jest/globals';
import { DATABASE } from '../../src/platform/database/engine/database.js';
import {
  type Engine,
  type InsertStatement,
  type OpenTransaction,
  type SqlValue,
  insertHeadOf,
} from '../../src/platform/database/engine/sql.js';
import { setUpApp } from '../support/app/app.js';
import { LAX_GUARDS } from '../support/app/guards.js';
import { csv, runImport, awaitRun } from '../support/app/imports.js';

/**
 * After a crash a run continues at its checkpoint, so every write of a run must be committed together with the checkpoint
 * that counts it. Random kills rarely hit a gap between the two. This test checks every transaction.
 */
const app = setUpApp({ ...LAX_GUARDS, FUSE_MIN: '0' });
const committed: string[][] = [];
beforeAll(async () => {
  const database = app.app.get<Engine>(DATABASE);
  const begin = database.begin.bind(database);
  database.begin = async () => recordStatements(await begin());
});

/** Wraps a transaction so that its statements are recorded after the commit. */
function recordStatements(tx: OpenTransaction): OpenTransaction {
  const statements: string[] = [];
  const [execute, insert, commit] = [tx.execute.bind(tx), tx.insert.bind(tx), tx.commit.bind(tx)];
  return Object.assign(tx, {
    execute: async (sql: string, params?: readonly SqlValue[]) => {
      statements.push(sql);
      return execute(sql, params);
    },
    insert: async (statement: InsertStatement, rows: readonly SqlValue[][]) => {
      const actor = rows.some((values) => values.includes('import')) ? ' by import' : '';
      statements.push(`${insertHeadOf(statement)}${actor}`);
      return insert(statement, rows);
    },
    commit: async () => {
      await commit();
      committed.push(statements.map((sql) => sql.replace(/\s+/g, ' ').trim()));
    },
  });
}

/**
 * Statements that write users, their look-up tables, the rows of the run and its audit. A plan whose batches are not
 * all assigned is created again.
 */
const WRITES =
  /^(INSERT INTO|UPDATE|DELETE FROM) (users|user_\w+|import_rows(?! SET batch)|audit_events .* by import$)/;
const CHECKPOINT = /^(UPDATE|INSERT INTO) import_runs\b/;

const HEAD = 'ExternalId,Username,Email,Phone,Roles,Manager';
const row = (n: number, phone = n) =>
  `${n},user${n},user${n}@example.org,+44 ${phone},${n % 3 ? '' : 'Editor'},${n % 7 ? n - (n % 7) || '' : ''}`;
const file = (from: number, to: number, phone = (n: number) => n) =>
  csv(HEAD, ...Array.from({ length: to - from }, (_, i) => row(from + i, phone(from + i))));

test('every import write is committed together with a checkpoint', async () => {
  const query = 'dataset=hr&part=a&missing=block';
  await runImport(app.key, file(1, 120), query);
  const second = await runImport(
    app.key,
    file(6, 180, (n) => n + (n % 9 ? 0 : 1000)),
    query,
  );
  expect(second).toMatchObject({
    state: 'completed',
    counts: { created: 60, updated: 13 },
    missing: { blocked: 5 },
  });
  await runImport(app.key, file(1, 180), query); // missing users return
  const { body } = await app.key.post(`/imports/${second.id}/revert`);
  expect((await awaitRun(app.key, body.id)).state).toMatch(/^completed/);

  const written = committed.filter((statements) => statements.some((sql) => WRITES.test(sql)));
  const users = written.filter((statements) =>
    statements.some((sql) => /^(INSERT INTO|UPDATE) users\b/.test(sql)),
  );
  expect(users.length).toBeGreaterThanOrEqual(4);
  expect(written.filter((statements) => !statements.some((sql) => CHECKPOINT.test(sql)))).toEqual([]);
});
