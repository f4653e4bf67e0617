import { type DynamicModule, Global, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { WorkerPrograms } from '../config/config.module.js';
import { Env } from '../config/env.js';
import { EntityTags } from '../http/entity-tags.js';
import { DATABASE, type Database, openDatabase } from './engine/database.js';
import { Installation, readInstallation } from './installation/installation.service.js';
import { Leases } from './leases/leases.service.js';
import { WriteLock } from './sqlite/write-lock.js';
import { TransactionRunner } from './transaction-runner.js';

@Global()
@Module({})
export class DatabaseModule implements OnApplicationShutdown {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /**
   * Creates the module that opens the database.
   * @param lock the write lock of a SQLite database. Pass it if another process manages the lock.
   */
  static forRoot(lock = new WriteLock()): DynamicModule {
    const database = {
      provide: DATABASE,
      inject: [Env, WorkerPrograms],
      useFactory: (env: Env, { reader }: WorkerPrograms): Promise<Database> =>
        openDatabase(env, { lock, reader }),
    };
    const installation = { provide: Installation, inject: [DATABASE], useFactory: readInstallation };
    const createTags = ({ epoch }: Installation) => new EntityTags(epoch);
    const tags = { provide: EntityTags, inject: [Installation], useFactory: createTags };
    const writeLock = { provide: WriteLock, useValue: lock };
    return {
      module: DatabaseModule,
      providers: [database, installation, tags, writeLock, TransactionRunner, Leases],
      exports: [DATABASE, Installation, EntityTags, WriteLock, TransactionRunner, Leases],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.database.close();
  }
}
