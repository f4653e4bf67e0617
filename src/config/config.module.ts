import { DynamicModule, Global, Module } from '@nestjs/common';
import { Env } from './env.js';

/** Provides the settings to every module, read and checked once before the application is created. */
@Global()
@Module({})
export class ConfigModule {
  static with(env: Env): DynamicModule {
    return { module: ConfigModule, providers: [{ provide: Env, useValue: env }], exports: [Env] };
  }
}
