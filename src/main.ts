import 'reflect-metadata';
import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
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
    const { runInstance } = await import('./operations/cluster/instance.js');
    // The instance uses the settings that the primary has read, even if `.env` has changed since.
    return runInstance(loadEnv(), createApp);
  }
  for (const text of findMisspeltVariables()) process.stderr.write(`Warning: ${text}.\n`);
  const env = readSettings();
  if (env.WORKERS > 1) {
    const { runPrimary } = await import('./operations/cluster/primary.js');
    return runPrimary(env, fileURLToPath(import.meta.url));
  }
  const { runSingleProcess } = await import('./operations/start/serve.js');
  return runSingleProcess(env, createApp);
});

async function createApp(env: Env) {
  const [application, lock] = await Promise.all([import('./create-app.js'), openDatabaseOf(env)]);
  return application.createApp(env, { programs: WORKER_PROGRAMS, lock });
}

async function openDatabaseOf(env: Env) {
  const { openInstallation } = await import('./operations/start/open-installation.js');
  return openInstallation(env, () => runMigrator(MIGRATOR));
}
