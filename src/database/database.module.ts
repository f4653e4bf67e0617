import { type DynamicModule, Global, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Env } from '../config/env.js';
import { type Entities, migrateAtStart } from './data-source.js';
import { DATABASE, type Database, openDatabase } from './engine/database.js';
import { TransactionRunner } from './transaction-runner.js';

@Global()
@Module({})
export class DatabaseModule implements OnApplicationShutdown {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /** @param entities the tables of the features. */
  static with(entities: Entities): DynamicModule {
    const database = {
      provide: DATABASE,
      inject: [Env],
      useFactory: async (env: Env): Promise<Database> => {
        await migrateAtStart(env, entities);
        return openDatabase(env);
      },
    };
    return {
      module: DatabaseModule,
      providers: [database, TransactionRunner],
      exports: [DATABASE, TransactionRunner],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.database.close();
  }
}
