import { type DynamicModule, Global, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { LanePrograms } from '../config/config.module.js';
import { Env } from '../config/env.js';
import { type Entities, migrateAtStart } from './data-source.js';
import { DATABASE, type Database, openDatabase } from './engine/database.js';
import { WriteQueue, WriteTurns } from './engine/write-turns.js';
import { TransactionRunner } from './transaction-runner.js';

@Global()
@Module({})
export class DatabaseModule implements OnApplicationShutdown {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /** @param entities the tables of the features. */
  static with(entities: Entities): DynamicModule {
    return DatabaseModule.open(new WriteQueue(), (env) => migrateAtStart(env, entities));
  }

  /** In a process beside the one that has opened the database and gives the turns. */
  static beside(turns: WriteTurns): DynamicModule {
    return DatabaseModule.open(turns, () => Promise.resolve());
  }

  private static open(turns: WriteTurns, prepare: (env: Env) => Promise<void>): DynamicModule {
    const database = {
      provide: DATABASE,
      inject: [Env, LanePrograms],
      useFactory: async (env: Env, { reader }: LanePrograms): Promise<Database> => {
        await prepare(env);
        return openDatabase(env, { turns, reader });
      },
    };
    return {
      module: DatabaseModule,
      providers: [database, { provide: WriteTurns, useValue: turns }, TransactionRunner],
      exports: [DATABASE, WriteTurns, TransactionRunner],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.database.close();
  }
}
