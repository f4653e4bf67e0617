import { Module } from '@nestjs/common';
import { SessionsModule } from '../sessions/sessions.module.js';
import { ConsoleController } from './console.controller.js';

/**
 * Serves the static files of the console for operators, and reports whether a browser has a session. The console uses the
 * API like any other client.
 */
@Module({ imports: [SessionsModule], controllers: [ConsoleController] })
export class ConsoleModule {}
