import 'reflect-metadata';
import { REQUEST_CASES, compareAllRequests } from './cases/requests.js';
import type { Outcome } from './cases/context.js';
import { compareImports } from './cases/import.js';
import { compareLogins } from './cases/login.js';
import { measureProcess } from './cases/process.js';
import { pinMyself, planCores } from './support/cores.js';
import { type EngineName, startEngine } from './support/engine.js';
import { describeCommit, describeMachine } from './support/machine.js';
import type { Results } from './support/results.js';
import { seed } from './support/seed.js';
import { readSettings } from './support/settings.js';
import { ENGINE_NAMES, tables } from './support/table.js';

/**
 * `npm run bench`: the built service beside floors that do the least that its work asks for, on both engines.
 * docs/performance.md tells what is measured and how to read it.
 */
const USERS = 10_000;

const CASES = [...Object.keys(REQUEST_CASES), 'login', 'import', 'process'];
const MAX_MEMORY = 250;

const settings = readSettings(CASES);
const { rounds, seconds } = settings;
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
  const say = (line: string): void => {
    process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${ENGINE_NAMES[name]}: ${line}\n`);
  };
  const engine = await startEngine(name, cores.database);
  results.machine.engines[name] = engine.version;
  try {
    const url = engine.create('bench');
    say(`${USERS} users`);
    await seed(url, USERS, () => undefined);
    const shared = { engine, cores, effort: { rounds, seconds }, url, users: USERS, say };
    const take = (load: string, { comparisons, peak }: Outcome): void => {
      results.comparisons.push(...comparisons);
      const title = `memory, most under ${load}`;
      results.absolutes.push({ case: title, engine: name, value: peak, unit: 'MiB', atMost: MAX_MEMORY });
    };
    const wanted = (id: string): boolean => settings.cases.includes(id);
    if (wanted('process')) results.absolutes.push(...(await measureProcess(shared)));
    const requests = Object.keys(REQUEST_CASES).filter(wanted);
    if (requests.length > 0) take('requests', await compareAllRequests(requests, shared));
    if (wanted('login')) take('logins', await compareLogins(shared));
    if (wanted('import')) take('imports', await compareImports(shared, settings.rows));
  } finally {
    await engine.remove();
  }
}

for (const name of settings.engines) await measure(name);
process.stdout.write(`\n${tables(results)}`);
