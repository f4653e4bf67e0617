import { DynamicModule, Global, Module } from '@nestjs/common';
import { Env } from './env.js';

/** Paths of the worker programs. If a path is missing, the service does that work in its own process (ADR 18). */
export class WorkerPrograms {
  import?: string;
  reader?: string;
}

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
