import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Caller } from '../access/actor.js';
import { AppModule } from '../app.module.js';
import { Log } from '../telemetry/log.js';
import { readSettings } from '../config/settings.js';

/** Who acts when somebody works at a shell of this machine. */
export const CLI_CALLER: Caller = { actor: { kind: 'system' }, requestId: 'cli', ip: '' };

/**
 * Runs `work` on the modules of the service, without HTTP. Log lines would run into what the command prints: they go
 * to standard error, and only where `LOG_LEVEL` asks for them, because the command tells the same in its own words.
 */
export async function withService<T>(work: (service: INestApplicationContext) => Promise<T>): Promise<T> {
  const env = readSettings();
  if (!process.env['LOG_LEVEL']) env.LOG_LEVEL = 'silent';
  const service = await NestFactory.createApplicationContext(AppModule.with(env), {
    logger: false,
    abortOnError: false,
  });
  service.get(Log).useStderr();
  try {
    return await work(service);
  } finally {
    await service.close();
  }
}
