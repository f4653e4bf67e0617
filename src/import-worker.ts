import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ConfigModule } from './platform/config/config.module.js';
import { loadEnv } from './platform/config/env.js';
import { runProgram } from './platform/config/settings.js';
import { DatabaseModule } from './platform/database/database.module.js';
import { sqliteFileOf } from './platform/database/engine/connection-options.js';
import { exitIfOrphaned, serveAsWorker } from './platform/database/engine/worker-process.js';
import { DatabaseFiles } from './platform/database/sqlite/database-files.js';
import { WriteLock } from './platform/database/sqlite/write-lock.js';
import {
  type ImportWorkerCalls,
  ImportWorker,
  type ServiceCalls,
} from './import/apply/import-worker.service.js';
import { FilePrefix } from './import/file/file-store.js';
import { ImportModule } from './import/import.module.js';
import { ImportPreview } from './import/mapping/import-preview.js';
import { RunEvents } from './import/report/run-events.js';
import { toProblemError } from './platform/http/problem.js';
import { TelemetryModule } from './platform/telemetry/telemetry.module.js';

// Program of the import worker process. It loads the modules that an import needs, but serves no requests.

/** Maximum number of connections to a database server: one for writing, one for reading ahead, and one for the lease. */
const POOL_SIZE = 3;

@Module({})
class WorkerModule {}

void runProgram('The import worker cannot start.', async () => {
  // The service passes its settings in the environment, so later changes of `.env` have no effect.
  const env = loadEnv();
  env.DATABASE_POOL_SIZE = Math.min(env.DATABASE_POOL_SIZE, POOL_SIZE);
  const service = serveAsWorker<ServiceCalls, ImportWorkerCalls>(
    {
      executeRuns: async () => (await starting).get(ImportWorker).executeRuns(),
      preview: async (head, requested, actor) => {
        const previews = (await starting).get(ImportPreview);
        const restored = Object.assign(new FilePrefix(), head); // the channel transfers the fields, but not the class
        return previews.build(restored, requested, actor).catch((error: unknown) => {
          const { code, detail, extras } = toProblemError(error);
          return { code, detail, extras };
        });
      },
      stop: async () => (await starting).close(),
      ping: () => true,
    },
    ['releaseLock', 'notify'],
  );
  const file = sqliteFileOf(env);
  const lock = new WriteLock(service, file === undefined ? undefined : new DatabaseFiles(file));
  exitIfOrphaned();
  const imports = [ConfigModule.forRoot(env), TelemetryModule, DatabaseModule.forRoot(lock), ImportModule];
  const starting = NestFactory.createApplicationContext(
    { module: WorkerModule, imports },
    { logger: false, abortOnError: false },
  );
  (await starting).get(RunEvents).listener = (id) => void service.notify(id);
});
