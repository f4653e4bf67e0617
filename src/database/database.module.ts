import { Global, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Env } from '../config/env.js';
import { migrateAtStart, openDataSource } from './data-source.js';
import { DATABASE, engineOf } from './database.js';
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
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  async onApplicationShutdown(): Promise<void> {
    await this.dataSource.destroy();
  }
}
