import 'reflect-metadata';
import type { Outcome } from './cases/context.js';
import { compareImports } from './cases/import.js';
import { compareBesideImport } from './cases/import-beside.js';
import { compareLogins } from './cases/login.js';
import { measureProcess } from './cases/process.js';
import { REQUEST_CASES, compareAllRequests } from './cases/requests.js';
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
 * `npm run bench`: the built service next to floors that do the minimum that its work needs, on both engines.
 * tools/bench/RESULTS.md describes the method and the columns.
 */
const USERS = 10_000;
const MAX_MEMORY = 250;
const CASES = [...Object.keys(REQUEST_CASES), 'login', 'import', 'beside', 'process'];

cleanUpAtExit();
const settings = readSettings(CASES);
const { rounds, seconds } = settings;
const wanted = (id: string): boolean => settings.cases.includes(id);
const cores = planCores();
pinMyself(cores.load);

const results: Results = {
  date: new Date().toISOString().slice(0, 10),
  commit: describeCommit(),
  machine: { ...describeMachine(), engines: {} },
  effort: { users: USERS, rounds, seconds },
  comparisons: [],
  absolutes: [],
};

async function measure(name: EngineName): Promise<void> {
  const engine = await startEngine(name, cores.database);
  results.machine.engines[name] = engine.version;
  try {
    const url = engine.create('bench');
    const say = (line: string): void => {
      process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${ENGINE_NAMES[name]}: ${line}\n`);
    };
    say(`${USERS} users`);
    await seed(url, USERS);
    const context = { engine, cores, effort: { rounds, seconds }, url, users: USERS, say };
    const take = (load: string, { comparisons, peak }: Outcome): void => {
      results.comparisons.push(...comparisons);
      const title = `memory, most under ${load}`;
      results.absolutes.push({ case: title, engine: name, value: peak, unit: 'MiB', atMost: MAX_MEMORY });
    };
    if (wanted('process')) results.absolutes.push(...(await measureProcess(context)));
    const requests = Object.keys(REQUEST_CASES).filter(wanted);
    if (requests.length > 0) take('requests', await compareAllRequests(requests, context));
    if (wanted('login')) take('logins', await compareLogins(context));
    if (wanted('beside')) {
      const { comparisons, absolutes } = await compareBesideImport(context, settings.rows);
      results.comparisons.push(...comparisons);
      results.absolutes.push(...absolutes);
    }
    if (wanted('import')) take('imports', await compareImports(context, settings.rows));
  } finally {
    await engine.remove();
  }
}

for (const name of settings.engines) await measure(name);

process.stdout.write(`\n${captionOf(results)}\n\n${fullTables(results)}`);
if (settings.whole) {
  await writeReport(results);
  process.stdout.write('\nWritten to tools/bench/RESULTS.md.\n');
} else {
  process.stdout.write('\nNothing is written down: that takes all cases on both engines.\n');
}
