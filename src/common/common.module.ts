import { Global, Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { ErrorFilter } from './error.filter.js';
import { Log } from './log.js';

@Global()
@Module({ providers: [Log, ErrorFilter, { provide: APP_FILTER, useExisting: ErrorFilter }], exports: [Log] })
export class CommonModule {}
