import type { NestExpressApplication } from '@nestjs/platform-express';
import { createBirpc } from 'birpc';
import cluster from 'node:cluster';
import { getSystemErrorMap } from 'node:util';
import { Metrics } from '../telemetry/metrics.js';
import type { Env } from '../config/env.js';
import { serve } from '../setup/serve.js';
import type { PrimaryCalls, WorkerCalls } from './calls.js';

/**
 * The service as one of several processes on one port. The primary is told when it serves, or why it cannot.
 * Node.js ends a worker whose primary is gone.
 * @param createApp makes the application, not yet listening.
 */
export async function runWorker(
  env: Env,
  createApp: (env: Env) => Promise<NestExpressApplication>,
): Promise<void> {
  // A message to a primary that is gone fails here; the end follows at once.
  cluster.worker?.on('error', () => undefined);
  const starting = createApp(env);
  const primary = createBirpc<PrimaryCalls, WorkerCalls>(
    {
      metrics: async () => (await starting).get(Metrics).share(),
    },
    {
      post: (call) => process.send?.(call),
      on: (listener) => process.on('message', listener),
    },
  );
  try {
    const app = await starting;
    app.get(Metrics).answerWith(() => primary.metrics());
    const first = await serve(app, listen(app, env));
    await primary.ready({ url: await app.getUrl(), first });
  } catch (error) {
    await primary.refused(error instanceof Error ? error.message : String(error));
    process.exit(1);
  }
}

/** @throws Error that says in words what is wrong with the port, as one process alone would: a worker knows the code only. */
async function listen(app: NestExpressApplication, { PORT, HOST }: Env): Promise<void> {
  try {
    await app.listen(PORT, HOST);
  } catch (error) {
    const { errno, code } = error as NodeJS.ErrnoException;
    const words = getSystemErrorMap().get(errno ?? 0)?.[1];
    throw words === undefined ? error : new Error(`listen ${code ?? ''}: ${words} ${HOST}:${PORT}`);
  }
}
