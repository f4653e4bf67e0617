import type { DynamicModule, INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Caller } from '../access/actor.js';
import type { Entities } from '../database/data-source.js';
import { Log } from '../telemetry/log.js';
import type { Env } from '../config/env.js';
import { readSettings } from '../config/settings.js';

/** Who acts when somebody works at a shell of this machine. */
export const CLI_CALLER: Caller = { actor: { kind: 'system', id: null }, requestId: 'cli', ip: '' };

/** What commands work on; the composition root hands it to them. */
export interface Program {
  module: (env: Env) => DynamicModule;
  entities: Entities;
}

/**
 * Runs `work` on the modules of the service, without HTTP. Log lines would run into what the command prints: they go
 * to standard error, and only where `LOG_LEVEL` asks for them, because the command tells the same in its own words.
 */
export async function withService<T>(
  { module }: Program,
  work: (service: INestApplicationContext) => Promise<T>,
): Promise<T> {
  const env = readSettings();
  if (!process.env['LOG_LEVEL']) env.LOG_LEVEL = 'silent';
  const service = await NestFactory.createApplicationContext(module(env), {
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
