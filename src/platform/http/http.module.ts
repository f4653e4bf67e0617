import { Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { BodyBudget } from './body-budget.js';
import { BodyReader } from './body-reader.js';
import { ErrorFilter } from './error.filter.js';
import { JsonBody } from './json-body.js';

@Module({
  providers: [
    BodyBudget,
    BodyReader,
    JsonBody,
    ErrorFilter,
    { provide: APP_FILTER, useExisting: ErrorFilter },
  ],
  exports: [BodyBudget, ErrorFilter, JsonBody],
})
export class HttpModule {}
