#!/usr/bin/env node
import 'reflect-metadata';
import { AppModule } from './app.module.js';
import { rollcall } from './cli/program.js';
import { runProgram } from './config/settings.js';
import { ENTITIES } from './entities.js';

/** Exit code of a command that did nothing: wrong usage, a missing file, no database. */
const NOTHING_DONE = 2;

const program = rollcall({ module: (env) => AppModule.with(env), entities: ENTITIES }, (code) =>
  process.exit(code === 0 ? 0 : NOTHING_DONE),
);

runProgram(
  'rollcall cannot do this.',
  async () => {
    await program.parseAsync();
  },
  NOTHING_DONE,
);
