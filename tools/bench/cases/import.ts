import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Service } from '../../servers.js';
import { loadInBulk } from '../support/bulk-load.js';
import type { BenchEngine } from '../support/engine.js';
import { type UserFile, importFile, writeUserFile } from '../support/import-file.js';
import { MemoryWatch, readCpu, readMemory } from '../support/meter.js';
import type { Comparison, Sample } from '../support/results.js';
import { compare } from '../support/rounds.js';
import { type Spent, runBaseline } from '../support/run-baseline.js';
import { createTables } from '../support/seed.js';
import type { Context, Outcome } from './context.js';

/** A kind of import with the title of its baseline and the share to reach. */
interface Case {
  title: string;
  baseline: string;
  goal?: number;
}
const READ = 'parse, and one keyed read';
const NEW: Case = { title: 'rows that are new', baseline: 'bulk load of the same rows', goal: 0.25 };
const SAME: Case = { title: 'rows that are unchanged', baseline: READ, goal: 0.5 };
const CHANGED: Case = { title: 'rows, 1 % of them changed', baseline: READ };

/**
 * Measures imports of one file: into an empty database, unchanged, and with the changes of a day. Each is compared with
 * its minimum cost. The folder of the file is deleted at the end of the benchmark.
 */
export async function compareImports(context: Context, rows: number): Promise<Outcome> {
  const { engine, cores, effort, log } = context;
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-bench-import-'));
  const comparisons: Comparison[] = [];
  const add = (
    { title, baseline: name, goal }: Case,
    ...samples: [service: Sample[], least: Sample[]]
  ): void => {
    const { service, baselines } = compare([name], samples);
    log(`import, ${title}: ${baselines.map(({ ratio }) => ratio.cpu.toFixed(2)).join()} of ${name}`);
    comparisons.push({
      case: `import, ${rows.toLocaleString('en')} ${title}`,
      engine: engine.name,
      service,
      baselines: baselines.map((baseline) => ({ ...baseline, ...(goal !== undefined && { goal }) })),
    });
  };
  const file = await writeUserFile(folder, rows);
  const [url, copy] = [engine.create('imported'), engine.create('loaded')];
  await createTables(copy);
  const service = await Service.create({ DATABASE_URL: url, LOG_LEVEL: 'info' }, undefined, cores.server);
  const watch = new MemoryWatch(service.pid);
  const measure = async (input: UserFile, expected: Record<string, number>): Promise<Sample> => {
    const spent = await importFile(service, input, { pids: [service.pid, ...engine.pids], expected });
    return { ...sampleOf(rows, spent), memory: readMemory(service.pid).now };
  };
  const read = async (): Promise<Sample> =>
    sampleOf(rows, await measureReads(engine, [file.path, url], cores.server));
  try {
    const created = await measure(file, { created: rows });
    log(`imported ${rows} new rows`);
    add(NEW, [created], [sampleOf(rows, await loadInBulk(engine, url, copy, cores.server))]);
    const same: Sample[] = [];
    const least: Sample[] = [];
    for (let round = 0; round < effort.rounds; round++) {
      same.push(await measure(file, { unchanged: rows }));
      least.push(await read());
    }
    add(SAME, same, least);
    const changed = await writeUserFile(folder, rows, 1);
    add(CHANGED, [await measure(changed, { updated: Math.floor(rows / 100) })], [await read()]);
    return { comparisons, peak: watch.peak };
  } finally {
    watch.end();
    await service.remove();
  }
}

async function measureReads(engine: BenchEngine, args: string[], cores: string | undefined): Promise<Spent> {
  const before = readCpu(engine.pids);
  const { seconds, cpuSeconds: own } = await runBaseline('parse-and-read', args, cores);
  return { seconds, cpuSeconds: own + readCpu(engine.pids) - before };
}

const sampleOf = (rows: number, { seconds, cpuSeconds: cpu }: Spent): Sample => ({
  perSecond: rows / seconds,
  perCpuSecond: rows / cpu,
});
