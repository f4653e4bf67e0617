import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isBusy } from '../../src/platform/database/engine/database-error.js';
import { Checkpointer, SqliteConnection } from '../../src/platform/database/sqlite/sqlite-connection.js';

/**
 * `npm run bench:checkpoints [-- MINUTES]` (60): four processes commit to one file, checkpoint it as fast as they can,
 * and are killed at random. After each minute the file must pass the integrity check and contain every acknowledged
 * row.
 */
const PROCESSES = 4;
/** Commits of a process between two checkpoints. */
const COMMITS = 5;
/** Average time between two kills. */
const KILL_MILLIS = 2000;
/** Content of a row, large enough that a commit writes several pages. */
const PADDING = 'x'.repeat(3000);

interface Acknowledged {
  ids: number[];
}

/** Commits rows with ids from `first` until the process is killed or its parent ends. */
async function commitRows(file: string, first: number): Promise<never> {
  process.on('disconnect', () => process.exit());
  const connection = SqliteConnection.open(file);
  const checkpointer = new Checkpointer(connection, file);
  for (let id = first; ; id += COMMITS) {
    const ids = Array.from({ length: COMMITS }, (_, n) => id + n);
    for (const rowId of ids) while (!addRow(connection, rowId));
    checkpointer.runCheckpoint();
    await new Promise((resolve) => process.send?.({ ids } satisfies Acknowledged, resolve));
  }
}

/** Inserts a row. @returns false if another process holds the write lock. */
function addRow(connection: SqliteConnection, id: number): boolean {
  try {
    connection.exec('BEGIN IMMEDIATE');
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  }
  connection.run('INSERT INTO written (id, padding) VALUES (?, ?)', [id, PADDING]);
  connection.run('UPDATE totals SET value = value + 1', []);
  connection.exec('COMMIT');
  return true;
}

async function watch(minutes: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-checkpoints-'));
  const file = join(folder, 'file.sqlite');
  const connection = SqliteConnection.open(file);
  connection.exec('CREATE TABLE written (id integer PRIMARY KEY, padding text) STRICT');
  connection.exec('CREATE TABLE totals (value integer) STRICT; INSERT INTO totals VALUES (0)');
  const acknowledged = new Set<number>();
  let kills = 0;
  let total = 0;
  let next = 1;
  const start = (): ChildProcess => {
    const child = fork(fileURLToPath(import.meta.url), [], {
      env: { ...process.env, FILE: file, FIRST: String(next) },
    });
    next += 1_000_000;
    child.on('message', ({ ids }: Acknowledged) => {
      for (const id of ids) acknowledged.add(id);
    });
    return child;
  };
  for (let minute = 1; minute <= minutes; minute++) {
    let children = Array.from({ length: PROCESSES }, start);
    for (const until = performance.now() + 60_000; performance.now() < until;) {
      await delay(KILL_MILLIS * Math.random() * 2);
      const victim = Math.floor(Math.random() * PROCESSES);
      children[victim]?.kill('SIGKILL');
      kills++;
      children = children.map((child, at) => (at === victim ? start() : child));
    }
    await Promise.all(
      children.map((child) => {
        child.kill('SIGKILL');
        return once(child, 'close');
      }),
    );
    const [check] = connection.query('PRAGMA integrity_check', []) as { integrity_check: string }[];
    const rows = connection.query('SELECT id FROM written', []) as { id: number }[];
    const totals = connection.queryOne('SELECT value FROM totals', []) as { value: number };
    const present = new Set(rows.map(({ id }) => id));
    const lost = [...acknowledged].filter((id) => !present.has(id));
    total += rows.length;
    process.stdout.write(
      `minute ${minute}: ${acknowledged.size} acknowledged, ${rows.length} found, ${lost.length} lost, ${kills} kills, integrity_check ${check?.integrity_check}\n`,
    );
    if (lost.length > 0 || check?.integrity_check !== 'ok' || totals.value !== rows.length) {
      throw new Error(`lost rows ${lost.slice(0, 10).join()}, total ${totals.value}, file ${file}`);
    }
    connection.exec('DELETE FROM written; UPDATE totals SET value = 0');
    acknowledged.clear();
  }
  process.stdout.write(`${total} commits, ${kills} kills, nothing lost\n`);
  connection.close();
  rmSync(folder, { recursive: true });
}

const { FILE, FIRST } = process.env;
if (FILE === undefined) await watch(Number(process.argv[2] ?? 60));
else await commitRows(FILE, Number(FIRST));
