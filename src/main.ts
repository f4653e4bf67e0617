import 'reflect-metadata';
import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
import type { CreateApp } from './operations/start/serve.js';
import { type Env, findMisspeltVariables, loadEnv } from './platform/config/env.js';
import { readSettings, runProgram } from './platform/config/settings.js';
import { runMigrator } from './platform/database/engine/worker-process.js';
import { ignoreOutputErrors } from './platform/telemetry/log.js';

const toProgramPath = (name: string): string => fileURLToPath(new URL(`./${name}.js`, import.meta.url));
const MIGRATOR = toProgramPath('migrator');
const WORKER_PROGRAMS = { import: toProgramPath('import-worker'), reader: toProgramPath('read-worker') };

ignoreOutputErrors();
// Import only the code that this process needs. The primary does not need the application.
void runProgram('Rollcall cannot start.', async () => {
  if (cluster.isWorker) {
    // The instance uses the settings that the primary has read, even if `.env` has changed since.
    const env = loadEnv();
    const createApp = await openInstallation(env);
    const { runInstance } = await import('./operations/cluster/instance.js');
    return runInstance(env, createApp);
  }
  for (const text of findMisspeltVariables()) process.stderr.write(`Warning: ${text}.\n`);
  const env = readSettings();
  if (env.WORKERS > 1) {
    const { runPrimary } = await import('./operations/cluster/primary.js');
    return runPrimary(env, fileURLToPath(import.meta.url));
  }
  const createApp = await openInstallation(env);
  const { runSingleProcess } = await import('./operations/start/serve.js');
  return runSingleProcess(env, createApp);
});

/**
 * Starts to open the installation, and waits only until the migrator is running. This process can then load the
 * application while the migrator works.
 * @returns a function that creates the application when the installation is open.
 */
async function openInstallation(env: Env): Promise<CreateApp> {
  const start = await import('./operations/start/open-installation.js');
  const isMigrating = Promise.withResolvers<undefined>();
  const lock = start.openInstallation(env, () => {
    const migration = runMigrator(MIGRATOR);
    isMigrating.resolve(undefined);
    return migration;
  });
  // The returned function awaits `lock` and reports its error.
  await Promise.race([isMigrating.promise, lock.catch(() => undefined)]);
  return async () => {
    const application = await import('./create-app.js');
    return application.createApp(env, { programs: WORKER_PROGRAMS, lock: await lock });
  };
}
