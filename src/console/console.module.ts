import { Module } from '@nestjs/common';
import { ConsoleController } from './console.controller.js';

/** The console for operators: files that a browser loads, and which then uses the interface like any other client. */
@Module({ controllers: [ConsoleController] })
export class ConsoleModule {}
