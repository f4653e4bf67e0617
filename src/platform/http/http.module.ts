import { Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { BodyBudget, BodyReader } from './body-reader.js';
import { ErrorFilter } from './error.filter.js';

@Module({
  providers: [BodyBudget, BodyReader, ErrorFilter, { provide: APP_FILTER, useExisting: ErrorFilter }],
  exports: [BodyBudget, BodyReader, ErrorFilter],
})
export class HttpModule {}
