import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Load, countUsers, measureReads, send } from './load.js';
import { readMemory } from '../support/meter.js';
import { MariaDb, Service } from './servers.js';

/**
 * `npm run bench:faults`: injects faults into the built service under load, counts acknowledged and lost users, and
 * prints the tables of tools/bench/faults/RESULTS.md. Uses only loopback and takes about two minutes.
 */
const WARM = 300;
const SECONDS = 5;
const table: string[][] = [];
const floods: string[][] = [];

/** Runs load before, during and after a fault. Adds a row to the table of faults. */
async function measureFault(name: string, service: Service, inject: () => Promise<void>): Promise<void> {
  const load = new Load(service, await countUsers(service));
  await load.waitUntil(WARM);
  await inject();
  const recovery = await load.waitForRecovery();
  await load.waitUntil(load.acknowledged.size + WARM);
  const { lost, extra } = await load.verify();
  const responses = [...load.statuses].map(([status, count]) => `${status}: ${count}`).join(', ');
  const counts = [load.sent, load.acknowledged.size, lost, extra].map(String);
  table.push([name, ...counts, `${Math.round(recovery)} ms`, responses]);
  process.stderr.write(`${table.at(-1)?.join(' | ') ?? ''}\n`);
}

/** Measures reads before and during a flood of requests. Adds a row to the table of floods. */
async function measureFlood(name: string, service: Service, run: () => Promise<unknown>): Promise<void> {
  const calm = await measureReads(service, delay(SECONDS * 1000));
  const before = readMemory(service.pid).now;
  const { count, failed, median, p99 } = await measureReads(service, run());
  const latencies = [calm.median, calm.p99, median, p99].map((millis) => millis.toFixed(1));
  const mebibytes = `${Math.round(before)} → ${Math.round(readMemory(service.pid).now)} MiB`;
  floods.push([name, ...latencies, `${failed} of ${count}`, mebibytes]);
  process.stderr.write(`${floods.at(-1)?.join(' | ') ?? ''}\n`);
}

const restart =
  (program: Service | MariaDb, pause = 0) =>
  async (): Promise<void> => {
    await program.end('SIGKILL');
    await delay(pause);
    await program.start();
  };

async function measureSqliteFaults(): Promise<void> {
  const service = await Service.create();
  await measureFault('SQLite: `kill -9` of the service, started again', service, restart(service));
  await measureFloods(service);
  await service.remove();
}

/** Measures a full file system of 24 MiB that gets free space again. */
async function measureFullDisk(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-faults-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    const note = 'not run: mounting a small file system needs root';
    table.push(['SQLite: disk full', note, ...Array<string>(5).fill('')]);
    return;
  }
  try {
    const service = await Service.create({}, join(folder, 'data'));
    const filler = join(folder, 'filler');
    await measureFault('SQLite: disk full for two seconds', service, async () => {
      // Fills the file system. SQLite may still have a little free space in its own files.
      execFileSync('sh', ['-c', `dd if=/dev/zero of=${filler} bs=64k 2>/dev/null || true`]);
      await delay(2000);
      rmSync(filler);
    });
    await service.end('SIGTERM');
    await service.remove();
  } finally {
    execFileSync('umount', ['-l', folder]);
    rmSync(folder, { recursive: true });
  }
}

async function measureMariaDbFaults(): Promise<void> {
  const database = await MariaDb.create();
  const service = await Service.create({ DATABASE_URL: database.url });
  await measureFault('MariaDB: `kill -9` of the service, started again', service, restart(service));
  await measureFault(
    'MariaDB: `kill -9` of the database, started again after 2 s',
    service,
    restart(database, 2000),
  );
  await measureFault('MariaDB: all connections killed', service, () => {
    const ids = database.sql("SELECT id FROM information_schema.processlist WHERE db = 'rollcall'");
    database.sql(ids.map((id) => `KILL ${id};`).join(' '));
    return Promise.resolve();
  });
  await service.remove();
  await database.remove();
}

async function measureFloods(service: Service): Promise<void> {
  const { port } = new URL(service.url);
  const repeat = async (count: number, run: (index: number) => Promise<unknown>): Promise<void> => {
    const end = performance.now() + SECONDS * 1000;
    const worker = async (index: number): Promise<void> => {
      while (performance.now() < end) await run(index).catch(() => delay(10));
    };
    await Promise.all(Array.from({ length: count }, (_, index) => worker(index)));
  };
  await measureFlood('100 clients that log in with wrong passwords, without a pause', service, () =>
    repeat(100, (index) =>
      send(service.url, 'POST', '/api/0.3/sessions/login', {
        username: `guess-${index}`,
        password: 'a wrong password',
      }),
    ),
  );
  const huge = JSON.stringify({ about_me: 'x'.repeat(8_000_000) });
  await measureFlood('50 clients that send bodies of 8 MB', service, () =>
    repeat(50, () => send(service.url, 'POST', '/api/0.3/users', huge)),
  );
  const open = async (count: number, first: string, more: string): Promise<void> => {
    const sockets: Socket[] = [];
    for (let opened = 0; opened < count; opened++) {
      const socket = connect(Number(port), '127.0.0.1');
      socket.on('error', () => undefined);
      if (first !== '') socket.write(first);
      sockets.push(socket);
      if (opened % 200 === 0) await delay(5);
    }
    for (let second = 0; second < SECONDS; second++) {
      await delay(1000);
      if (more !== '') for (const socket of sockets) if (socket.writable) socket.write(more);
    }
    for (const socket of sockets) socket.destroy();
  };
  await measureFlood('1,000 clients that send a header line a second', service, () =>
    open(1000, 'GET /api/0.3/status HTTP/1.1\r\nHost: x\r\n', 'X-Slow: 1\r\n'),
  );
  await measureFlood('10,000 connections that send nothing', service, () => open(10_000, '', ''));
}

const printTable = (head: string, rows: string[][]): void => {
  const line = (cells: string[]): string => `| ${cells.join(' | ')} |\n`;
  const rule = head.split(' | ').map(() => '---');
  process.stdout.write(`\n${line([head])}${line(rule)}${rows.map(line).join('')}`);
};

if (!existsSync('dist/main.js')) throw new Error('Build the service first: npm run build.');
await measureSqliteFaults();
await measureFullDisk();
await measureMariaDbFaults();
printTable(
  'Fault | Sent | Acknowledged | Lost | Unacknowledged but stored | Until the next success | Responses',
  table,
);
printTable(
  'Flood | Read p50 before (ms) | p99 before | p50 during | p99 during | Reads failed | Memory',
  floods,
);
