import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { sampleLines } from '../../samples/generate.js';
import { Service } from '../faults/servers.js';
import { bulkLoad } from '../support/bulk-load.js';
import type { BenchEngine } from '../support/engine.js';
import { cpuSeconds, memory } from '../support/meter.js';
import type { Comparison, Sample } from '../support/results.js';
import { compare } from '../support/rounds.js';
import { type Spent, runFloor } from '../support/run-floor.js';
import { createTables } from '../support/seed.js';
import { ask, askJson } from '../support/send.js';
import type { Context, Outcome } from './context.js';

const API = '/api/0.3/imports';
const NEW = { title: 'rows that are new', floor: 'bulk load of the same rows', goal: 0.25 };
const SAME = { title: 'rows that are unchanged', floor: 'parse, and one keyed read', goal: 0.5 };

/** Imports of one file, first into an empty database and then again, each beside the least that it could cost. */
export async function compareImports(context: Context, rows: number): Promise<Outcome> {
  const { engine, cores, effort, say } = context;
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-bench-import-'));
  const file = join(folder, 'users.csv');
  const samples: Record<'new' | 'loaded' | 'same' | 'read', Sample[]> = {
    new: [],
    loaded: [],
    same: [],
    read: [],
  };
  let peak: number;
  try {
    await pipeline(Readable.from(sampleLines({ rows, seed: 1, changed: 0 })), createWriteStream(file));
    const text = readFileSync(file, 'utf8');
    const [url, copy] = [engine.create('imported'), engine.create('loaded')];
    await createTables(copy);
    const service = await Service.make({ DATABASE_URL: url, LOG_LEVEL: 'info' }, undefined, cores.server);
    try {
      const run = { service, engine, text, rows };
      samples.new.push(await imported(run, 'created'));
      say(`imported ${rows} new rows`);
      samples.loaded.push(sampleOf(rows, await bulkLoad(engine, url, copy, cores.server)));
      for (let round = 0; round < effort.rounds; round++) {
        samples.same.push(await imported(run, 'unchanged'));
        samples.read.push(sampleOf(rows, await readAlone(engine, [file, url], cores.server)));
      }
      peak = memory(service.pid).peak;
    } finally {
      await service.remove();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  const comparison = ({ title, floor, goal }: typeof NEW, service: Sample[], least: Sample[]): Comparison => {
    const { service: measured, floors } = compare([floor], [service, least]);
    say(`import, ${title}: ${floors.map(({ ratio }) => ratio.cpu.toFixed(2)).join()} of ${floor}`);
    return {
      case: `import, ${rows.toLocaleString('en')} ${title}`,
      engine: engine.name,
      unit: 'rows',
      service: measured,
      floors: floors.map((each) => ({ ...each, goal })),
    };
  };
  return {
    comparisons: [comparison(SAME, samples.same, samples.read), comparison(NEW, samples.new, samples.loaded)],
    peak,
  };
}

async function readAlone(engine: BenchEngine, args: string[], cores: string | undefined): Promise<Spent> {
  const before = cpuSeconds(engine.pids);
  const { seconds, cpuSeconds: own } = await runFloor('parse-and-read', args, cores);
  return { seconds, cpuSeconds: own + cpuSeconds(engine.pids) - before };
}

const sampleOf = (rows: number, { seconds, cpuSeconds: cpu }: Spent): Sample => ({
  perSecond: rows / seconds,
  perCpuSecond: rows / cpu,
});

interface Import {
  service: Service;
  engine: BenchEngine;
  text: string;
  rows: number;
}
interface Run {
  id: string;
  state: string;
  counts: Record<string, number> | null;
}

/** From the first byte of the upload to the end of the run. The CPU is that of the service and of its database. */
async function imported({ service, engine, text, rows }: Import, outcome: string): Promise<Sample> {
  const pids = [service.pid, ...engine.pids];
  const cpu = cpuSeconds(pids);
  const from = performance.now();
  const upload = { method: 'POST', path: API, body: text };
  const { id } = JSON.parse(await ask(service.url, upload, { 'content-type': 'text/csv' })) as Run;
  await ask(service.url, { method: 'GET', path: `${API}/${id}/events` }); // they end with the run
  const spent = { seconds: (performance.now() - from) / 1000, cpuSeconds: cpuSeconds(pids) - cpu };
  const run = await askJson<Run>(service.url, { method: 'GET', path: `${API}/${id}` });
  if (run.state !== 'completed' || run.counts?.[outcome] !== rows)
    throw new Error(`import: ${run.state} ${JSON.stringify(run.counts)}, not ${rows} ${outcome}`);
  return { ...sampleOf(rows, spent), memory: memory(service.pid).now };
}
