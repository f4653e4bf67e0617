import { type DynamicModule, Global, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Env } from '../config/env.js';
import type { Entities } from './data-source-options.js';
import { migrateAtStart, openDataSource } from './data-source.js';
import { DATABASE, type Database, engineOf } from './engine/database.js';
import { TransactionRunner } from './transaction-runner.js';

@Global()
@Module({})
export class DatabaseModule implements OnApplicationShutdown {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(DATABASE) private readonly database: Database,
  ) {}

  /** @param entities the tables of the features. */
  static with(entities: Entities): DynamicModule {
    const dataSource = {
      provide: DataSource,
      inject: [Env],
      useFactory: async (env: Env) => {
        const opened = await openDataSource(env, entities);
        await migrateAtStart(opened, env);
        return opened;
      },
    };
    const database = { provide: DATABASE, inject: [DataSource], useFactory: engineOf };
    return {
      module: DatabaseModule,
      providers: [dataSource, database, TransactionRunner],
      exports: [DATABASE, TransactionRunner],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    // Where the database is away there is nothing to settle.
    await this.database.settle().catch(() => undefined);
    await this.dataSource.destroy();
  }
}
