import { type DynamicModule, Global, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { LanePrograms } from '../config/config.module.js';
import { Env } from '../config/env.js';
import { DATABASE, type Database, openDatabase } from './engine/database.js';
import { WriteQueue, WriteTurns } from './sqlite/write-turns.js';
import { TransactionRunner } from './transaction-runner.js';

@Global()
@Module({})
export class DatabaseModule implements OnApplicationShutdown {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /** @param turns of the writers of an embedded database, where another process grants them. */
  static with(turns: WriteTurns = new WriteQueue()): DynamicModule {
    const database = {
      provide: DATABASE,
      inject: [Env, LanePrograms],
      useFactory: (env: Env, { reader }: LanePrograms): Promise<Database> =>
        openDatabase(env, { turns, reader }),
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
