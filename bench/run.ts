import 'reflect-metadata';
import { REQUEST_CASES, compareRequests } from './cases/requests.js';
import type { Context } from './cases/context.js';
import { Service } from './faults/servers.js';
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

const settings = readSettings(Object.keys(REQUEST_CASES));
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
    const service = await Service.make({ DATABASE_URL: url, LOG_LEVEL: 'info' }, undefined, cores.server);
    const context: Context = { engine, cores, effort: { rounds, seconds }, url, users: USERS, service, say };
    try {
      for (const id of settings.cases.filter((wanted) => wanted in REQUEST_CASES)) {
        results.comparisons.push(await compareRequests(id, context));
      }
    } finally {
      await service.remove();
    }
  } finally {
    await engine.remove();
  }
}

for (const name of settings.engines) await measure(name);
process.stdout.write(`\n${tables(results)}`);
