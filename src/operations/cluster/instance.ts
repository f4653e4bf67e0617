import type { NestExpressApplication } from '@nestjs/platform-express';
import { createBirpc } from 'birpc';
import cluster from 'node:cluster';
import { getSystemErrorMap } from 'node:util';
import { errorCodeOf, messageOf } from '../../platform/common/errors.js';
import { Metrics } from '../../platform/telemetry/metrics.js';
import type { Env } from '../../platform/config/env.js';
import { type CreateApp, completeStart } from '../start/serve.js';
import type { PrimaryCalls, InstanceCalls } from './instance-process.js';

/**
 * Runs the service as one of several instances on one port. Reports to the primary when it serves requests, or why it
 * cannot start. Node.js ends the instance if its primary dies.
 */
export async function runInstance(env: Env, createApp: CreateApp): Promise<void> {
  // Ignores errors of messages to a dead primary, because this process then ends as well.
  cluster.worker?.on('error', () => undefined);
  const starting = createApp(env);
  const primary = createBirpc<PrimaryCalls, InstanceCalls>(
    { getMetrics: async () => (await starting).get(Metrics).registry.getMetricsAsJSON() },
    { post: (call) => process.send?.(call), on: (listener) => process.on('message', listener) },
  );
  try {
    const app = await starting;
    app.get(Metrics).renderText = () => primary.getAllMetrics();
    const first = await completeStart(app, env, listen(app, env));
    await primary.reportReady({ url: await app.getUrl(), first });
  } catch (error) {
    await primary.reportFailedStart(messageOf(error));
    process.exit(1);
  }
}

/**
 * Listens on the port.
 * @throws Error with the message of the operating system. Node.js passes only the error code to the processes of a
 * cluster, so the message is looked up.
 */
async function listen(app: NestExpressApplication, { PORT, HOST }: Env): Promise<void> {
  try {
    await app.listen(PORT, HOST);
  } catch (error) {
    const code = errorCodeOf(error);
    const [, message] = [...getSystemErrorMap().values()].find(([name]) => name === code) ?? [];
    throw message === undefined ? error : new Error(`listen ${code ?? ''}: ${message} ${HOST}:${PORT}`);
  }
}
