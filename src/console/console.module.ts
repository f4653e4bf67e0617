import { Module } from '@nestjs/common';
import { ConsoleController } from './console.controller.js';

/** The console for operators: static files for browsers, which use the API like any other client. */
@Module({ controllers: [ConsoleController] })
export class ConsoleModule {}
