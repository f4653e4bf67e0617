import { Module } from '@nestjs/common';
import { SessionsModule } from '../sessions/sessions.module.js';
import { ConsoleController } from './console.controller.js';

/** Serves the console for operators: static files for browsers, and whether a browser has a session. The console uses the API like any other client. */
@Module({ imports: [SessionsModule], controllers: [ConsoleController] })
export class ConsoleModule {}
