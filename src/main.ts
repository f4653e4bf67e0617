import 'reflect-metadata';
import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
import { loadEnv } from './config/env.js';
import { readSettings, runProgram } from './config/settings.js';
import { outliveOutput } from './telemetry/log-output.js';

/** The programs beside this one. */
const program = (name: string): string => fileURLToPath(new URL(`./${name}.js`, import.meta.url));
const LANES = { import: program('import-lane'), reader: program('reader-lane') };

outliveOutput();
// The primary of several workers loads no application, so each way to run is imported only where it is used.
runProgram('Rollcall cannot start.', async () => {
  if (cluster.isWorker) {
    const [{ runWorker }, { createApp }] = await Promise.all([
      import('./cluster/worker.js'),
      import('./create-app.js'),
    ]);
    return runWorker(loadEnv(), (env) => createApp(env, LANES)); // the settings that the primary has read, even if `.env` has changed since
  }
  const env = readSettings();
  if (env.WORKERS > 1) {
    const { runPrimary } = await import('./cluster/primary.js');
    return runPrimary(env, fileURLToPath(import.meta.url));
  }
  const [{ runAlone }, { createApp }] = await Promise.all([
    import('./setup/serve.js'),
    import('./create-app.js'),
  ]);
  return runAlone(env, (each) => createApp(each, LANES));
});
