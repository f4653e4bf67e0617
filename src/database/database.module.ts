import { Global, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Env } from '../config/env.js';
import { migrateAtStart, openDataSource } from './data-source.js';
import { DATABASE, type Database, engineOf } from './engine/database.js';
import { TransactionRunner } from './transaction-runner.js';

@Global()
@Module({
  providers: [
    {
      provide: DataSource,
      inject: [Env],
      useFactory: async (env: Env) => {
        const dataSource = await openDataSource(env);
        await migrateAtStart(dataSource, env);
        return dataSource;
      },
    },
    { provide: DATABASE, inject: [DataSource], useFactory: engineOf },
    TransactionRunner,
  ],
  exports: [DATABASE, TransactionRunner],
})
export class DatabaseModule implements OnApplicationShutdown {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(DATABASE) private readonly database: Database,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    // Where the database is away there is nothing to settle.
    await this.database.settle().catch(() => undefined);
    await this.dataSource.destroy();
  }
}
