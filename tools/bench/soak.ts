import 'reflect-metadata';
import { Service } from './faults/servers.js';
import { REQUEST_CASES } from './cases/requests.js';
import { cleanUpAtExit } from './support/clean-up.js';
import { pinMyself, planCores } from './support/cores.js';
import { startEngine } from './support/engine.js';
import { load } from './support/load.js';
import { type RequestOf } from './support/requests.js';
import { seed } from './support/seed.js';
import { readSettings } from './support/settings.js';

/**
 * `npm run bench:soak [-- MINUTES]` (60): a mixed load for a long time, in steps that each report latency and memory. Of
 * seven requests four read or search, two change and one asks for a page. No users are added, so any growth is a leak.
 */
const STEPS = 12;
const USERS = 10_000;
const MIX = ['read', 'search', 'update', 'read', 'search', 'update', 'page'];

cleanUpAtExit();
const minutes = Number(process.argv[2] ?? 60);
const cores = planCores();
pinMyself(cores.load);

const requests = MIX.flatMap((name) => REQUEST_CASES[name] ?? []);
const mixed: RequestOf = (n, serial) => {
  const { requestOf = () => ({ method: 'GET' as const, path: '/' }) } = requests[serial % MIX.length] ?? {};
  return requestOf(n % (USERS - 25), serial);
};

for (const name of readSettings(Object.keys(REQUEST_CASES)).engines) {
  const engine = await startEngine(name, cores.database);
  try {
    const url = engine.create('soak');
    await seed(url, USERS, () => undefined);
    const service = await Service.make({ DATABASE_URL: url, LOG_LEVEL: 'info' }, undefined, cores.server);
    try {
      process.stdout.write(`${name}: ${STEPS} steps of ${(minutes / STEPS).toFixed(1)} minutes\n`);
      for (let step = 1; step <= STEPS; step++) {
        const {
          perSecond,
          median = 0,
          p99 = 0,
          memory = 0,
        } = await load(
          { name: 'service', url: service.url, pid: service.pid },
          mixed,
          () => Math.floor(Math.random() * USERS),
          { seconds: (minutes * 60) / STEPS },
        );
        const line = [
          `step ${step}:`,
          `${perSecond.toFixed(0)}/s,`,
          `median ${median.toFixed(1)} ms,`,
          `p99 ${p99.toFixed(1)} ms (${(p99 / median).toFixed(1)} times the median),`,
          `${memory.toFixed(0)} MiB`,
        ];
        process.stdout.write(`${line.join(' ')}\n`);
      }
    } finally {
      await service.remove();
    }
  } finally {
    await engine.remove();
  }
}
