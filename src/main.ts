import 'reflect-metadata';
import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
import { loadEnv } from './config/env.js';
import { readSettings, runProgram } from './config/settings.js';

// The primary of several workers loads no application: each way to run is imported where it is taken.
runProgram('Rollcall cannot start.', async () => {
  if (cluster.isWorker) {
    const [{ runWorker }, { createApp }] = await Promise.all([
      import('./cluster/worker.js'),
      import('./app.setup.js'),
    ]);
    return runWorker(loadEnv(), createApp); // the settings that the primary has read, whatever `.env` says by now
  }
  const env = readSettings();
  if (env.WORKERS > 1) {
    const { runPrimary } = await import('./cluster/primary.js');
    return runPrimary(env, fileURLToPath(import.meta.url));
  }
  const { runAlone } = await import('./alone.js');
  return runAlone(env);
});
