import 'reflect-metadata';
import type { Outcome } from './cases/context.js';
import { compareImports } from './cases/import.js';
import { compareDuringImport } from './cases/during-import.js';
import { compareLogins } from './cases/login.js';
import { measureProcess } from './cases/process.js';
import { REQUEST_CASES, compareAllRequests } from './cases/requests.js';
import { measureStalls } from './cases/stalls.js';
import { cleanUpAtExit } from './support/clean-up.js';
import { pinMyself, planCores } from './support/cores.js';
import { type EngineName, startEngine } from './support/engine.js';
import { describeCommit, describeMachine } from './support/machine.js';
import { writeReport } from './support/report.js';
import type { Results } from './support/results.js';
import { seed } from './support/seed.js';
import { readSettings } from './support/settings.js';
import { ENGINE_NAMES, formatCaption, formatTables } from './support/table.js';

/**
 * `npm run bench`: compares the built service with baselines that do only the minimum work, on both engines.
 * tools/bench/RESULTS.md describes the method and the columns.
 */
const USERS = 10_000;
const MAX_MEMORY = 250;
const CASES = [...Object.keys(REQUEST_CASES), 'login', 'stalls', 'import', 'during-import', 'process'];

cleanUpAtExit();
const settings = readSettings(CASES);
const { rounds, seconds } = settings;
const isSelected = (id: string): boolean => settings.cases.includes(id);
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
    const log = (line: string): void => {
      process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${ENGINE_NAMES[name]}: ${line}\n`);
    };
    log(`${USERS} users`);
    await seed(url, USERS);
    const context = { engine, cores, effort: { rounds, seconds }, url, users: USERS, log };
    const add = (load: string, { comparisons, peak }: Outcome): void => {
      results.comparisons.push(...comparisons);
      const title = `peak memory under ${load}`;
      results.absolutes.push({ case: title, engine: name, value: peak, unit: 'MiB', atMost: MAX_MEMORY });
    };
    if (isSelected('process')) results.absolutes.push(...(await measureProcess(context)));
    const requests = Object.keys(REQUEST_CASES).filter(isSelected);
    if (requests.length > 0) add('requests', await compareAllRequests(requests, context));
    if (isSelected('login')) add('logins', await compareLogins(context));
    if (isSelected('stalls')) results.absolutes.push(...(await measureStalls(context)));
    if (isSelected('during-import')) {
      const { comparisons, absolutes } = await compareDuringImport(context, settings.rows);
      results.comparisons.push(...comparisons);
      results.absolutes.push(...absolutes);
    }
    if (isSelected('import')) add('imports', await compareImports(context, settings.rows));
  } finally {
    await engine.remove();
  }
}

for (const name of settings.engines) await measure(name);

process.stdout.write(`\n${formatCaption(results)}\n\n${formatTables(results)}`);
if (settings.isComplete) {
  await writeReport(results);
  process.stdout.write('\nWritten to tools/bench/RESULTS.md.\n');
} else {
  process.stdout.write('\nThe results are not stored: only a run of all cases on both engines is.\n');
}
