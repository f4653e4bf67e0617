import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { send } from '../faults/load.js';
import { MariaDb, Service } from '../faults/servers.js';

/**
 * `npm run bench:slow-disk [-- FOLDER]`: writes a second of one client and of many, each with users of its own, on a
 * MariaDB with a durable binlog whose disk takes 5 ms longer for each sync. Where changes share a row or a lock, many
 * clients write no more than one. FOLDER is a built predecessor to measure beside. Needs a C compiler.
 */
const CLIENTS = Number(process.env['BENCH_CLIENTS'] ?? 48);
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 5);
const MILLIS = process.env['SLOW_FSYNC_MILLIS'] ?? '5';
const POOL = process.env['DATABASE_POOL_SIZE']
  ? { DATABASE_POOL_SIZE: process.env['DATABASE_POOL_SIZE'] }
  : {};
const DURABLE = ['--log-bin', '--server-id=1', '--sync-binlog=1', '--innodb-flush-log-at-trx-commit=1'];

/** The next request of a client that has a user. */
type Work = (user: string, n: number) => { method: string; path: string; body: object };
const ROOT = '/api/0.3/users';
const WORK: Record<string, Work> = {
  'update a field': (user, n) => ({ method: 'PUT', path: `${ROOT}/${user}`, body: { phone: String(n) } }),
  create: () => ({ method: 'POST', path: ROOT, body: person() }),
  'block, reactivate': (user, n) => ({
    method: 'PUT',
    path: `${ROOT}/${user}`,
    body: { status: n % 2 === 0 ? 'Blocked' : 'Active' },
  }),
};

function person(): object {
  const name = randomUUID();
  return {
    username: name,
    email: `${name}@example.org`,
    external_id: name,
    firstname: 'Kim',
    surname: 'Lee',
  };
}

const agent = new Agent({ keepAlive: true });

async function ask(url: string, { method, path, body }: ReturnType<Work>): Promise<string> {
  const { status, text } = await send(url, method, path, body, { agent });
  if (status > 299) throw new Error(`${method} ${path}: ${status} ${text}`);
  return text;
}

/** Writes a second of `clients`, which are spread over the instances. */
async function rate(work: Work, clients: number, instances: readonly Service[]): Promise<number> {
  const urls = Array.from({ length: clients }, (_, n) => instances[n % instances.length]?.url ?? '');
  const users = await Promise.all(
    urls.map(async (url) => {
      const made = await ask(url, { method: 'POST', path: ROOT, body: person() });
      return (JSON.parse(made) as { uuid: string }).uuid;
    }),
  );
  let done = 0;
  const end = performance.now() + SECONDS * 1000;
  const write = async (url: string, user: string): Promise<void> => {
    for (let n = 0; performance.now() < end; n++) {
      await ask(url, work(user, n));
      done++;
    }
  };
  await Promise.all(urls.map((url, n) => write(url, users[n] ?? '')));
  return done / SECONDS;
}

const folder = mkdtempSync(join(tmpdir(), 'rollcall-slow-disk-'));
const library = join(folder, 'slow-fsync.so');
execFileSync('cc', ['-shared', '-fPIC', '-o', library, 'bench/slow-disk/slow-fsync.c', '-ldl']);
const database = await MariaDb.make(undefined, DURABLE, { LD_PRELOAD: library, SLOW_FSYNC_MILLIS: MILLIS });
try {
  const versions = [
    ...process.argv.slice(2).map((root) => ({ name: 'former', root })),
    { name: 'now', root: '.' },
  ];
  process.stdout.write(`${CLIENTS} clients, ${MILLIS} ms more a sync, writes a second\n`);
  for (const { name, root } of versions) {
    database.sql(`CREATE DATABASE ${name}`);
    const settings = { DATABASE_URL: database.urlOf(name), ...POOL };
    const first = await Service.make(settings, undefined, undefined, root);
    const second = await Service.make(settings, undefined, undefined, root);
    for (const [kind, work] of Object.entries(WORK)) {
      const one = await rate(work, 1, [first]);
      const many = await rate(work, CLIENTS, [first]);
      const spread = await rate(work, CLIENTS, [first, second]);
      const times = (writes: number) =>
        `${writes.toFixed(0).padStart(6)} (${(writes / one).toFixed(1)} times)`;
      process.stdout.write(
        `${name.padEnd(7)} ${kind.padEnd(18)} one client ${one.toFixed(0).padStart(4)}   one instance ${times(many)}   two instances ${times(spread)}\n`,
      );
    }
    await first.remove();
    await second.remove();
  }
} finally {
  agent.destroy();
  await database.remove();
  rmSync(folder, { recursive: true });
}
