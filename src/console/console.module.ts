import { Module } from '@nestjs/common';
import { ConsoleController } from './console.controller.js';

/** Serves the console for operators: static files for browsers. The console uses the API like any other client. */
@Module({ controllers: [ConsoleController] })
export class ConsoleModule {}
