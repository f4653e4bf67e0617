import type { DynamicModule, INestApplicationContext } from '@nestjs/common';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { NestFactory } from '@nestjs/core';
import type { Caller } from '../access/actor.js';
import type { Env } from '../platform/config/env.js';
import { readSettings } from '../platform/config/settings.js';
import { type Entities, migrateAtStart } from '../platform/database/data-source.js';
import { sqliteFile } from '../platform/database/engine/connection-options.js';
import { databaseName } from './database-name.js';
import { Log } from '../platform/telemetry/log.js';

/** Identifies changes made on the command line of this machine. */
export const CLI_CALLER: Caller = { actor: { kind: 'system', id: null }, requestId: 'cli', ip: '' };

/** The application that commands work on; the composition root passes it to them. */
export interface Application {
  module: (env: Env) => DynamicModule;
  entities: Entities;
}

/**
 * Runs `work` with the modules of the application, without HTTP, and says on standard error which database it is on. Logging is off unless `LOG_LEVEL` is set, and goes to
 * standard error, because commands print their results themselves.
 * @returns what `work` returns. @throws Error when the settings or the database are not usable, or from `work`; when there is no
 * database: a mistyped name must not make one.
 */
export async function withApplication<T>(
  { module, entities }: Application,
  work: (context: INestApplicationContext) => Promise<T>,
  { quiet }: { quiet?: boolean | undefined } = {},
): Promise<T> {
  const env = readSettings();
  assertThere(env);
  if (!quiet) process.stderr.write(`Database: ${databaseName(env).full}\n`);
  if (!process.env['LOG_LEVEL']) env.LOG_LEVEL = 'silent';
  await migrateAtStart(env, entities);
  const context = await NestFactory.createApplicationContext(module(env), {
    logger: false,
    abortOnError: false,
  });
  context.get(Log).useStderr();
  try {
    return await work(context);
  } finally {
    await context.close();
  }
}

function assertThere(env: Env): void {
  const file = sqliteFile(env);
  if (file === undefined || existsSync(file)) return;
  throw new Error(
    `There is no database at ${resolve(file)} (DATABASE_URL, DATA_DIR). "rollcall start" makes one, "rollcall migrate" an empty one.`,
  );
}
