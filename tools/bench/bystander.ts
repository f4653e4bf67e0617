import 'reflect-metadata';
import { once, setMaxListeners } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ATTACKS, type Attack } from './cases/attacks.js';
import { readDuring } from './cases/bystander.js';
import { Service } from './faults/servers.js';
import { cleanUpAtExit } from './support/clean-up.js';
import { pinMyself, planCores } from './support/cores.js';
import { type BenchEngine, startEngine } from './support/engine.js';
import { memory } from './support/meter.js';
import { seed } from './support/seed.js';
import { readSettings } from './support/settings.js';

/**
 * `npm run bench:bystander [-- FOLDER]`: one client reads a user and asks `/health/live` without a pause, alone and beside
 * each attack of some seconds. Printed are its longest wait and 99th percentile in milliseconds, and the CPU and memory of
 * the service. FOLDER is another built checkout, for before and after. BENCH_ENGINE, BENCH_CASES and BENCH_SECONDS as in
 * `npm run bench`; BENCH_USERS (100,000) users are in the database.
 */
const USERS = Number(process.env['BENCH_USERS'] ?? 100_000);
const root = process.argv[2] ?? '.';
if (!existsSync(join(root, 'dist/main.js'))) throw new Error('Build the checkout first: npm run build.');
const settings = readSettings(Object.keys(ATTACKS));
const cores = planCores();
cleanUpAtExit();
pinMyself(cores.load);

const cell = (value: number, digits = 0): string => value.toFixed(digits).padStart(9);

/** Each attack has a service of its own, so that none is measured in what another one has left. */
async function measure(engine: BenchEngine, url: string, title: string, attack?: Attack): Promise<void> {
  const service = await Service.make({ DATABASE_URL: url }, undefined, cores.server, root);
  try {
    const target = await attack?.prepare?.(service);
    const answers = new Map<string, number>();
    const seen = await readDuring(service, async () => {
      const stop = AbortSignal.timeout(settings.seconds * 1000);
      setMaxListeners(0, stop); // each attacker has one
      if (attack) await attack.run(service, stop, answers, target);
      else await once(stop, 'abort');
    });
    const cells = [seen.longest, seen.p99].map((value) => cell(value, 1)).join('');
    const cpu = cell((100 * seen.cpuSeconds) / seen.seconds);
    const told = [...answers].map(([status, count]) => `${status}: ${count}`).join(', ');
    process.stdout.write(
      `${engine.name.padEnd(8)} ${title.padEnd(44)}${cells}${cell(seen.failed)}${cpu}${cell(memory(service.pid).peak)}  ${told}\n`,
    );
  } finally {
    await service.remove();
  }
}

process.stdout.write(
  `${''.padEnd(53)}${['longest', 'p99 ms', 'failed', 'CPU %', 'MiB'].map((name) => name.padStart(9)).join('')}  answers to the attack\n`,
);
for (const name of settings.engines) {
  const engine = await startEngine(name, cores.database);
  try {
    const url = engine.create('bystander');
    await seed(url, USERS, () => undefined);
    await measure(engine, url, 'alone');
    for (const id of settings.cases) {
      const attack = ATTACKS[id];
      if (attack) await measure(engine, url, attack.title, attack);
    }
  } finally {
    await engine.remove();
  }
}
