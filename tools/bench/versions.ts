import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { REQUEST_CASES } from './cases/requests.js';
import { Service } from '../servers.js';
import { cleanUpAtExit } from './support/clean-up.js';
import { pinMyself, planCores } from './support/cores.js';
import { type BenchEngine, type EngineName, startEngine } from './support/engine.js';
import { importFile, writeUserFile } from './support/import-file.js';
import type { Contender } from './support/load.js';
import type { RequestOf } from './support/requests.js';
import { readMemory } from './support/meter.js';
import { alternate } from './support/rounds.js';
import { fetchJson } from './support/send.js';
import { readSettings } from './support/settings.js';
import { medianOf } from './support/statistics.js';

/**
 * `npm run bench:versions -- FOLDER`: compares this version with another built checkout, alternating on one machine.
 * Prints the CPU time of the service for a request or a row, and the ratio of the two. BENCH_ENGINE, BENCH_CASES,
 * BENCH_ROUNDS, BENCH_SECONDS and BENCH_ROWS work as in `npm run bench`.
 */
const { engines, cases, rounds, seconds, rows } = readSettings(Object.keys(REQUEST_CASES), {
  BENCH_ROWS: '20000',
  BENCH_ROUNDS: '5',
  ...process.env,
});
const API = '/api/0.3';

const other = process.argv[2] ?? '';
if (!existsSync(join(other, 'dist/main.js'))) throw new Error('Pass the folder of another built checkout.');
const ROOTS = [other, '.'];
const cores = planCores();
cleanUpAtExit();
pinMyself(cores.load);

/**
 * Prints the medians and the median ratio of all rounds. Both versions of a round are affected by the same other load.
 */
function printRow(engine: EngineName, name: string, [before = [], after = []]: readonly number[][]): void {
  const cells = [medianOf(before), medianOf(after)].map((value) => value.toFixed(0).padStart(8));
  const ratio = medianOf(before.map((value, round) => (after[round] ?? Number.NaN) / value)).toFixed(3);
  process.stdout.write(`${engine.padEnd(8)} ${name.padEnd(40)} ${cells.join('')} ${ratio.padStart(8)}\n`);
}

/** Imports files into each service. Returns the CPU time in microseconds per row, by service and file. */
async function measureImports(
  services: readonly Service[],
  engine: BenchEngine,
  files: readonly Parameters<typeof importFile>[1][],
  expected: Record<string, number>,
): Promise<number[][]> {
  const spent = services.map((): number[] => []);
  for (const file of files) {
    for (const [index, service] of services.entries()) {
      const { cpuSeconds } = await importFile(service, file, {
        pids: [service.pid, ...engine.pids],
        expected,
      });
      spent[index]?.push((1e6 * cpuSeconds) / file.rows);
    }
  }
  return spent;
}

/** Returns the UUIDs of the users of a service, ordered by external id. Both services have the same users. */
async function readUuids({ url }: Service): Promise<string[]> {
  const uuids: string[] = [];
  for (let offset = 0; offset < rows; offset += 100) {
    const path = `${API}/users/search?sort=external_id&order=asc&has_external_id=true&limit=100&offset=${offset}`;
    const page = await fetchJson<{ Results: { uuid: string }[] }>(url, { method: 'GET', path });
    uuids.push(...page.Results.map(({ uuid }) => uuid));
  }
  return uuids;
}

let serial = 0;

/** Returns the requests of a case for the users of a service. */
function requestsOf(id: string, uuids: readonly string[]): RequestOf {
  const uuid = (n: number): string => uuids[n % uuids.length] ?? '';
  if (id === 'read') return (n) => ({ method: 'GET', path: `${API}/users/${uuid(n)}` });
  if (id === 'update') {
    return (n) => ({ method: 'PUT', path: `${API}/users/${uuid(n)}`, body: { phone: `+44 ${serial++}` } });
  }
  const { requestOf } = REQUEST_CASES[id] ?? {};
  if (!requestOf) throw new Error(`unknown case ${id}`);
  return id === 'create' ? (_, n) => requestOf(7_000_000 + serial++, n) : requestOf;
}

for (const name of engines) {
  const engine = await startEngine(name, cores.database);
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-bench-versions-'));
  const services: Service[] = [];
  try {
    for (const [index, root] of ROOTS.entries()) {
      const settings = { DATABASE_URL: engine.create(`version${index}`), LOG_LEVEL: 'info' };
      services.push(await Service.create(settings, undefined, cores.server, root));
    }
    const file = await writeUserFile(folder, rows);
    printRow(name, 'import, new row', await measureImports(services, engine, [file], { created: rows }));
    const same = Array.from({ length: rounds }, () => file);
    printRow(
      name,
      'import, unchanged row',
      await measureImports(services, engine, same, { unchanged: rows }),
    );
    const lists = await Promise.all(services.map(readUuids));
    const contenders = services.map(({ url, pid }, index): Contender => ({
      name: ROOTS[index] ?? '',
      url,
      pid,
    }));
    for (const id of cases) {
      const requests = lists.map((uuids) => requestsOf(id, uuids));
      const samples = await alternate(contenders, requests, () => Math.floor(Math.random() * (rows - 25)), {
        rounds,
        seconds,
      });
      const title = REQUEST_CASES[id]?.title ?? id;
      const micros = samples.map((rounds) => rounds.map(({ perCpuSecond }) => 1e6 / perCpuSecond));
      printRow(name, title, micros);
    }
    const memories = services.map(({ pid }) => [readMemory(pid).peak]);
    printRow(name, 'peak memory, MiB', memories);
  } finally {
    for (const service of services) await service.remove();
    await engine.remove();
  }
}
