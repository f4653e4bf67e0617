import { DynamicModule, Global, Module } from '@nestjs/common';
import { Env } from './env.js';

/** Gives every module the settings, read and checked once before the application is made. */
@Global()
@Module({})
export class ConfigModule {
  static with(env: Env): DynamicModule {
    return { module: ConfigModule, providers: [{ provide: Env, useValue: env }], exports: [Env] };
  }
}
