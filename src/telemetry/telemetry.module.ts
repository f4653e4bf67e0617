import { Global, Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { ErrorFilter } from '../http/error.filter.js';
import { Log } from './log.js';
import { Metrics } from './metrics.js';

@Global()
@Module({
  providers: [Log, Metrics, ErrorFilter, { provide: APP_FILTER, useExisting: ErrorFilter }],
  exports: [Log, Metrics],
})
export class CommonModule {}
