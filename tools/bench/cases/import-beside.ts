import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Service } from '../faults/servers.js';
import { importFile, makeUserFile } from '../support/import-file.js';
import { MemoryWatch } from '../support/meter.js';
import { uuidOf } from '../support/person.js';
import { HEADERS, JSON_HEADERS } from '../support/requests.js';
import type { Absolute, Comparison, Sample } from '../support/results.js';
import { compare } from '../support/rounds.js';
import { ask } from '../support/send.js';
import { percentiles } from '../support/statistics.js';
import type { Context } from './context.js';

/** Milliseconds between two requests of a client: a service in daily use, not one under load. */
const PAUSE_MILLIS = { read: 10, create: 20 } as const;
const CLIENTS = 2;
const ALONE_SECONDS = 10;
const AT_MOST_MILLIS = 50;
const AT_MOST_MEBIBYTES = 250;

type Kind = keyof typeof PAUSE_MILLIS;

/** What requests feel for a while. */
interface Felt {
  read: Sample;
  create: Sample;
  /** Milliseconds that the thread of the service was late, at the 99th percentile. */
  lag: number;
}

let created = 0;

/** Reads and creates of other clients beside an import of new rows; the floor is the same requests without it. */
export async function compareBesideImport(
  { engine, cores, url, users, say }: Context,
  rows: number,
): Promise<{ comparisons: Comparison[]; absolutes: Absolute[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-bench-beside-'));
  const service = await Service.make({ DATABASE_URL: url, LOG_LEVEL: 'info' }, undefined, cores.computing);
  const watch = new MemoryWatch(service.pid);
  try {
    const file = await makeUserFile(folder, rows);
    await feel(service, users, delay(1000)); // warms up
    const alone = await feel(service, users, delay(ALONE_SECONDS * 1000));
    const run = importFile(service, file, { pids: [], expected: { created: rows } });
    const beside = await feel(service, users, run);
    const title = `beside an import of ${rows.toLocaleString('en')} new rows`;
    const { seconds } = await run;
    say(
      `${title} in ${seconds.toFixed(0)} s: p99 of reads ${besideOf('read')}, of creates ${besideOf('create')}, of the thread ${alone.lag.toFixed(1)} → ${beside.lag.toFixed(1)} ms`,
    );
    function besideOf(kind: Kind): string {
      return `${(alone[kind].p99 ?? 0).toFixed(1)} → ${(beside[kind].p99 ?? 0).toFixed(1)} ms`;
    }
    const comparisons = (['read', 'create'] as const).map((kind): Comparison => ({
      case: `${kind} a user, ${title}`,
      engine: engine.name,
      ...compare(['without the import'], [[beside[kind]], [alone[kind]]]),
    }));
    const limit = (what: string, value: number): Absolute => ({
      case: `p99 of ${what}, ${title}`,
      engine: engine.name,
      value,
      unit: 'ms',
      atMost: AT_MOST_MILLIS,
    });
    const memory: Absolute = {
      case: `memory of all processes, most ${title}`,
      engine: engine.name,
      value: watch.peak,
      unit: 'MiB',
      atMost: AT_MOST_MEBIBYTES,
    };
    const latencies = [limit('reads', beside.read.p99 ?? 0), limit('creates', beside.create.p99 ?? 0)];
    return { comparisons, absolutes: [...latencies, limit('delays of the thread', beside.lag), memory] };
  } finally {
    watch.end();
    await service.remove();
  }
}

/** Sends requests until `until` settles. */
async function feel(service: Service, users: number, until: Promise<unknown>): Promise<Felt> {
  let over = false;
  const end = (): void => void (over = true);
  until.then(end, end);
  await lagOf(service); // a scrape begins a new interval
  const client = async (kind: Kind): Promise<number[]> => {
    const millis: number[] = [];
    while (!over) {
      const from = performance.now();
      await (kind === 'read' ? read(service, users) : create(service));
      millis.push(performance.now() - from);
      await delay(PAUSE_MILLIS[kind]);
    }
    return millis;
  };
  const clients = (kind: Kind) => Promise.all(Array.from({ length: CLIENTS }, () => client(kind)));
  const [reads, creates] = await Promise.all([clients('read'), clients('create')]);
  return { read: sampleOf(reads.flat()), create: sampleOf(creates.flat()), lag: await lagOf(service) };
}

const read = ({ url }: Service, users: number) =>
  ask(url, { method: 'GET', path: `/api/0.3/users/${uuidOf(Math.floor(Math.random() * users))}` }, HEADERS);

async function create({ url }: Service): Promise<void> {
  const name = `beside.${created++}`;
  const body = { username: name, email: `${name}@example.net`, firstname: 'New', surname: 'Comer' };
  await ask(url, { method: 'POST', path: '/api/0.3/users', body }, JSON_HEADERS);
}

/** The delay of the service's event loop since the last call, at the 99th percentile. */
async function lagOf({ url }: Service): Promise<number> {
  const metrics = await ask(url, { method: 'GET', path: '/metrics' });
  return Number(/^nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec(metrics)?.[1]) * 1000;
}

/** Requests that pause in between say nothing of a rate, so that is left out. */
const sampleOf = (millis: readonly number[]): Sample => ({
  perSecond: Number.NaN,
  perCpuSecond: Number.NaN,
  ...percentiles(millis),
});
