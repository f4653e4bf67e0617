import { DynamicModule, Global, Module } from '@nestjs/common';
import { Env } from './env.js';

/** The programs of the processes beside the service, where there are any (ADR 0018). */
export class LanePrograms {
  import?: string;
  reader?: string;
}

/** Provides the settings to every module, read and checked once before the application is created. */
@Global()
@Module({})
export class ConfigModule {
  static with(env: Env, programs: LanePrograms = {}): DynamicModule {
    const providers = [
      { provide: Env, useValue: env },
      { provide: LanePrograms, useValue: programs },
    ];
    return { module: ConfigModule, providers, exports: [Env, LanePrograms] };
  }
}
