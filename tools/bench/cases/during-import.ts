import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Service } from '../../servers.js';
import { importFile, writeUserFile } from '../support/import-file.js';
import { MemoryWatch } from '../support/meter.js';
import { uuidOf } from '../support/person.js';
import { HEADERS, JSON_HEADERS } from '../support/requests.js';
import type { Absolute, Comparison, Sample } from '../support/results.js';
import { compare } from '../support/rounds.js';
import { fetchText } from '../support/send.js';
import { percentilesOf } from '../support/statistics.js';
import type { Context } from './context.js';

/** Milliseconds between two requests of a client. They imitate daily use rather than full load. */
const PAUSE_MILLIS = { read: 10, create: 20 } as const;
const CLIENTS = 2;
const ALONE_SECONDS = 10;
const AT_MOST_MILLIS = 50;
const AT_MOST_MEBIBYTES = 300;

type Kind = keyof typeof PAUSE_MILLIS;

/** Latencies during an interval. */
interface Latencies {
  read: Sample;
  create: Sample;
  /** Delay of the event loop in milliseconds, at the 99th percentile. */
  lag: number;
}

let created = 0;

/** Measures reads and creates during an import of new rows. The baseline is the same requests without the import. */
export async function compareDuringImport(
  { engine, cores, url, users, log }: Context,
  rows: number,
): Promise<{ comparisons: Comparison[]; absolutes: Absolute[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-bench-during-'));
  const service = await Service.create({ DATABASE_URL: url, LOG_LEVEL: 'info' }, undefined, cores.computing);
  const watch = new MemoryWatch(service.pid);
  try {
    const file = await writeUserFile(folder, rows);
    await measureLatencies(service, users, delay(1000)); // warm-up
    const alone = await measureLatencies(service, users, delay(ALONE_SECONDS * 1000));
    const run = importFile(service, file, { pids: [], expected: { created: rows } });
    const during = await measureLatencies(service, users, run);
    const title = `during an import of ${rows.toLocaleString('en')} new rows`;
    const { seconds } = await run;
    log(
      `${title} in ${seconds.toFixed(0)} s: p99 of reads ${formatChange('read')}, of creates ${formatChange('create')}, of the event loop delay ${alone.lag.toFixed(1)} → ${during.lag.toFixed(1)} ms`,
    );
    function formatChange(kind: Kind): string {
      return `${(alone[kind].p99 ?? 0).toFixed(1)} → ${(during[kind].p99 ?? 0).toFixed(1)} ms`;
    }
    const comparisons = (['read', 'create'] as const).map((kind): Comparison => ({
      case: `${kind} a user, ${title}`,
      engine: engine.name,
      ...compare(['without the import'], [[during[kind]], [alone[kind]]]),
    }));
    const limit = (what: string, value: number): Absolute => ({
      case: `p99 of ${what}, ${title}`,
      engine: engine.name,
      value,
      unit: 'ms',
      atMost: AT_MOST_MILLIS,
    });
    const memory: Absolute = {
      case: `peak memory of all processes, ${title}`,
      engine: engine.name,
      value: watch.peak,
      unit: 'MiB',
      atMost: AT_MOST_MEBIBYTES,
    };
    const latencies = [limit('reads', during.read.p99 ?? 0), limit('creates', during.create.p99 ?? 0)];
    return { comparisons, absolutes: [...latencies, limit('event loop delays', during.lag), memory] };
  } finally {
    watch.end();
    await service.remove();
  }
}

/** Sends requests until `until` settles. Returns their latencies. */
async function measureLatencies(
  service: Service,
  users: number,
  until: Promise<unknown>,
): Promise<Latencies> {
  let isOver = false;
  const end = (): void => void (isOver = true);
  until.then(end, end);
  await readLag(service); // each scrape begins a new interval
  const client = async (kind: Kind): Promise<number[]> => {
    const millis: number[] = [];
    while (!isOver) {
      const from = performance.now();
      await (kind === 'read' ? readUser(service, users) : createUser(service));
      millis.push(performance.now() - from);
      await delay(PAUSE_MILLIS[kind]);
    }
    return millis;
  };
  const clients = (kind: Kind) => Promise.all(Array.from({ length: CLIENTS }, () => client(kind)));
  const [reads, creates] = await Promise.all([clients('read'), clients('create')]);
  return { read: sampleOf(reads.flat()), create: sampleOf(creates.flat()), lag: await readLag(service) };
}

const readUser = ({ url }: Service, users: number) =>
  fetchText(
    url,
    { method: 'GET', path: `/api/0.3/users/${uuidOf(Math.floor(Math.random() * users))}` },
    HEADERS,
  );

async function createUser({ url }: Service): Promise<void> {
  const name = `during.${created++}`;
  const body = { username: name, email: `${name}@example.net`, firstname: 'New', surname: 'Comer' };
  await fetchText(url, { method: 'POST', path: '/api/0.3/users', body }, JSON_HEADERS);
}

/** Reads the delay of the event loop of the service since the last call, in milliseconds at the 99th percentile. */
async function readLag({ url }: Service): Promise<number> {
  const metrics = await fetchText(url, { method: 'GET', path: '/metrics' });
  return Number(/^nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec(metrics)?.[1]) * 1000;
}

/** Builds a sample without rates, because the clients pause between requests. */
const sampleOf = (millis: readonly number[]): Sample => ({
  perSecond: Number.NaN,
  perCpuSecond: Number.NaN,
  ...percentilesOf(millis),
});
