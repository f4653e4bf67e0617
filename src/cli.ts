#!/usr/bin/env node
import 'reflect-metadata';
import { Command } from 'commander';
import { AppModule } from './app.module.js';
import { auditCommand } from './cli/audit.command.js';
import { doctorCommand } from './cli/doctor.command.js';
import { importCommand } from './cli/import.command.js';
import { importsCommand } from './cli/imports.command.js';
import { keysCommand } from './cli/keys.command.js';
import { migrateCommand } from './cli/migrate.command.js';
import { startCommand } from './cli/start.command.js';
import { usersCommand } from './cli/users.command.js';
import type { Application } from './cli/application.js';
import { VERSION } from './common/version.js';
import { runProgram } from './config/settings.js';
import { ENTITIES } from './entities.js';

/** Exit code of a command that did nothing: wrong usage, a missing file, no database. */
const NOTHING_DONE = 2;

const EXIT_CODES = `
Exit codes: 0 done; 2 nothing done (wrong usage, broken setting, no database, unknown id).
Those of import, imports, audit and doctor: see their --help.`;

const application: Application = { module: (env) => AppModule.with(env), entities: ENTITIES };
const commands = [
  startCommand,
  importCommand,
  importsCommand,
  usersCommand,
  keysCommand,
  auditCommand,
  migrateCommand,
  doctorCommand,
];
const program = new Command('rollcall')
  .description(
    'Users of an intranet, kept in step with an identity source. Settings: environment variables or .env.',
  )
  .version(VERSION)
  .addHelpText('after', EXIT_CODES)
  .showHelpAfterError('(see --help)')
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : NOTHING_DONE));
for (const command of commands) {
  program.addCommand(inherit(command(application), program));
}

/** Commander passes settings on to commands that it creates itself, but not to added ones. */
function inherit(command: Command, parent: Command): Command {
  command.copyInheritedSettings(parent);
  for (const child of command.commands) inherit(child, command);
  return command;
}

runProgram(
  'rollcall cannot do this.',
  async () => {
    await program.parseAsync();
  },
  NOTHING_DONE,
);
