import { Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { ErrorFilter } from './error.filter.js';

@Module({
  providers: [ErrorFilter, { provide: APP_FILTER, useExisting: ErrorFilter }],
})
export class HttpModule {}
