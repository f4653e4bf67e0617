import { DynamicModule, Global, Module } from '@nestjs/common';
import { Env } from './env.js';

/**
 * Paths of the worker programs. If a path is missing, the work of that program runs in the process of the service
 * (ADR 18).
 */
export class WorkerPrograms {
  import?: string;
  reader?: string;
}

/** Provides the validated settings to every module. */
@Global()
@Module({})
export class ConfigModule {
  static forRoot(env: Env, programs: WorkerPrograms = {}): DynamicModule {
    const providers = [
      { provide: Env, useValue: env },
      { provide: WorkerPrograms, useValue: programs },
    ];
    return { module: ConfigModule, providers, exports: [Env, WorkerPrograms] };
  }
}
