import 'reflect-metadata';
import type { Outcome } from './cases/context.js';
import { compareImports } from './cases/import.js';
import { compareBesideImport } from './cases/import-beside.js';
import { compareImportMemory } from './cases/import-memory.js';
import { compareLogins } from './cases/login.js';
import { measureProcess } from './cases/process.js';
import { REQUEST_CASES, compareAllRequests } from './cases/requests.js';
import { compareScales } from './cases/scale.js';
import { cleanUpAtExit } from './support/clean-up.js';
import { pinMyself, planCores } from './support/cores.js';
import { type EngineName, startEngine } from './support/engine.js';
import { describeCommit, describeMachine } from './support/machine.js';
import { writeReport } from './support/report.js';
import type { Results } from './support/results.js';
import { seed } from './support/seed.js';
import { readSettings } from './support/settings.js';
import { ENGINE_NAMES, captionOf, fullTables } from './support/table.js';

/**
 * `npm run bench`: the built service next to floors that do the minimum that its work needs, on both engines;
 * `npm run bench:full`: also searches with a million users and the plan of a large file. docs/performance.md says how to
 * read it.
 */
const USERS = 10_000;
const MANY_USERS = 1_000_000;
const MAX_MEMORY = 250;
const FULL_CASES = ['scale', 'plan'];

cleanUpAtExit();
const full = process.argv.includes('--full');
const CASES = [
  ...Object.keys(REQUEST_CASES),
  'login',
  'import',
  'beside',
  'process',
  ...(full ? FULL_CASES : []),
];
const settings = readSettings(CASES);
const { rounds, seconds } = settings;
const wanted = (id: string): boolean => settings.cases.includes(id);
const isFull = (id: string): boolean => FULL_CASES.includes(id);
const cores = planCores();
pinMyself(cores.load);

const emptyResults = (users: number): Results => ({
  date: new Date().toISOString().slice(0, 10),
  commit: describeCommit(),
  machine: { ...describeMachine(), engines: {} },
  effort: { users, rounds, seconds },
  comparisons: [],
  absolutes: [],
});
const bench = emptyResults(USERS);
const scale = emptyResults(MANY_USERS);

const sayFor =
  (name: EngineName) =>
  (line: string): void => {
    process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${ENGINE_NAMES[name]}: ${line}\n`);
  };

async function measure(name: EngineName): Promise<void> {
  const engine = await startEngine(name, cores.database);
  bench.machine.engines[name] = engine.version;
  try {
    const url = engine.create('bench');
    const say = sayFor(name);
    say(`${USERS} users`);
    await seed(url, USERS, () => undefined);
    const context = { engine, cores, effort: { rounds, seconds }, url, users: USERS, say };
    const take = (load: string, { comparisons, peak }: Outcome): void => {
      bench.comparisons.push(...comparisons);
      const title = `memory, most under ${load}`;
      bench.absolutes.push({ case: title, engine: name, value: peak, unit: 'MiB', atMost: MAX_MEMORY });
    };
    if (wanted('process')) bench.absolutes.push(...(await measureProcess(context)));
    const requests = Object.keys(REQUEST_CASES).filter(wanted);
    if (requests.length > 0) take('requests', await compareAllRequests(requests, context));
    if (wanted('login')) take('logins', await compareLogins(context));
    if (wanted('beside')) {
      const { comparisons, absolutes } = await compareBesideImport(context, settings.rows);
      bench.comparisons.push(...comparisons);
      bench.absolutes.push(...absolutes);
    }
    if (wanted('import')) take('imports', await compareImports(context, settings.rows));
  } finally {
    await engine.remove();
  }
}

async function measureScale(name: EngineName): Promise<void> {
  const engine = await startEngine(name, cores.database, 'large');
  scale.machine.engines[name] = engine.version;
  try {
    const context = { engine, cores, effort: { rounds, seconds }, say: sayFor(name) };
    if (wanted('scale')) scale.comparisons.push(...(await compareScales(context, MANY_USERS)));
    if (wanted('plan')) scale.absolutes.push(await compareImportMemory(context));
  } finally {
    await engine.remove();
  }
}

for (const name of settings.engines) if (!settings.cases.every(isFull)) await measure(name);
for (const name of settings.engines) if (settings.cases.some(isFull)) await measureScale(name);

for (const results of [bench, scale]) {
  if (results.comparisons.length + results.absolutes.length === 0) continue;
  process.stdout.write(`\n${captionOf(results)}\n\n${fullTables(results)}`);
}
if (settings.whole) {
  await writeReport({ bench, ...(full && { scale }) });
  process.stdout.write(
    '\nWritten to tools/bench/results.json, tools/bench/results.svg and docs/performance.md.\n',
  );
} else {
  process.stdout.write('\nNothing is written down: that takes all cases on both engines.\n');
}
