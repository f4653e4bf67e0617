import 'reflect-metadata';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { createApp } from '../../src/create-app.js';
import { loadEnv } from '../../src/config/env.js';
import { migrateAtStart } from '../../src/database/data-source.js';
import type { Sql } from '../../src/database/engine/sql.js';
import { TransactionRunner } from '../../src/database/transaction-runner.js';
import { ENTITIES } from '../../src/entities.js';
import type { UserChange } from '../../src/users/change/change-set.js';
import { toProblem } from '../../src/users/change/failure.js';
import { UserWriter } from '../../src/users/change/user-writer.service.js';
import type { UserPatch } from '../../src/users/input/user-rules.js';
import { median } from './support/statistics.js';

/**
 * `npm run bench:writer [-- SIZE]`: sets of changes through the user writer, one transaction each, on the database
 * of DATABASE_URL (a temporary SQLite file without it). Prints statements and milliseconds, the median of nine sets.
 */
const size = Number(process.argv[2] ?? 500);
const folder = mkdtempSync(join(tmpdir(), 'rollcall-bench-'));
const env = loadEnv({ ...process.env, DATA_DIR: folder, MIGRATE_ON_START: 'true', LOG_LEVEL: 'silent' });
await migrateAtStart(env, ENTITIES);
const app = await createApp(env);
await app.init();
const caller = { actor: { kind: 'system' as const, id: null }, requestId: 'bench', ip: '' };
const SETS = 9;
const run = Date.now().toString(36);

async function measure(name: string, change: (set: number, n: number) => UserChange): Promise<string[][]> {
  const millis: number[] = [];
  const made: string[][] = [];
  let statements = 0;
  for (let set = 0; set < SETS; set++) {
    const changes = Array.from({ length: size }, (_, n) => change(set, n));
    const started = performance.now();
    const outcomes = await app.get(TransactionRunner).run((tx) => {
      const { sql, count } = counted(tx);
      return app
        .get(UserWriter)
        .apply(sql, changes, caller)
        .finally(() => (statements = count()));
    });
    millis.push(performance.now() - started);
    const failed = outcomes.find((outcome) => outcome.outcome === 'error');
    if (failed) throw toProblem(failed.failures);
    made.push(outcomes.map((outcome) => (outcome.outcome === 'error' ? '' : outcome.user.uuid)));
  }
  const middle = median(millis);
  const rate = Math.round((size / middle) * 1000);
  process.stdout.write(
    `${name.padEnd(22)}${String(statements).padStart(4)} statements ${middle.toFixed(0).padStart(6)} ms ${String(rate).padStart(8)} users/s\n`,
  );
  return made;
}

function counted(sql: Sql): { sql: Sql; count: () => number } {
  let count = 0;
  return {
    count: () => count,
    sql: {
      dialect: sql.dialect,
      query: (text, params) => (count++, sql.query(text, params)),
      first: (text, params) => (count++, sql.first(text, params)),
      execute: (text, params) => (count++, sql.execute(text, params)),
      insert: (statement, rows) => (count++, sql.insert(statement, rows)),
    },
  };
}

try {
  const made = await measure(`create, ${size}`, (set, n) => ({
    kind: 'create',
    uuid: uuidv7(),
    patch: {
      username: `${run} ${set} ${n}`,
      email: `${run}.${set}.${n}@example.org`,
      external_id: `${run}-${set}-${n}`,
      firstname: 'Zoë',
      surname: `O'Neill-${n}`,
      phone: '+44 20 7946 0958',
      roles: ['Organisational user', 'Editor'],
    },
  }));
  const patches: Record<string, (n: number) => UserPatch> = {
    'change a phone': (n) => ({ phone: `+44 ${n}` }),
    'change a name': (n) => ({ surname: `New ${n}` }),
    block: () => ({ status: 'Blocked' }),
    'change nothing': () => ({ status: 'Blocked' }),
  };
  for (const [name, patchOf] of Object.entries(patches)) {
    await measure(`${name}, ${size}`, (set, n) => ({
      kind: 'update',
      uuid: made[set]?.[n] ?? '',
      patch: patchOf(n),
    }));
  }
} finally {
  await app.close();
  rmSync(folder, { recursive: true, force: true });
}
