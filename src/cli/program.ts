import { Command } from 'commander';
import { VERSION } from '../platform/common/version.js';
import { runProgram } from '../platform/config/settings.js';
import type { Application } from './application.js';
import { auditCommand } from './audit.command.js';
import { backupCommand } from './backup.command.js';
import { completionCommand } from './completion.command.js';
import { doctorCommand } from './doctor.command.js';
import { EXAMPLES } from './examples.js';
import { importCommand } from './import.command.js';
import { importsCommand } from './imports.command.js';
import { keysCommand } from './keys.command.js';
import { migrateCommand } from './migrate.command.js';
import { restoreCommand } from './restore.command.js';
import { startCommand } from './start.command.js';
import { usersCommand } from './users.command.js';

const EXIT_CODES = `
Exit codes: 0 done; 2 nothing done (wrong usage, broken setting, no database, unknown id).
Those of import, imports, users, audit, restore and doctor: see their --help.`;

const COMMANDS = [
  startCommand,
  importCommand,
  importsCommand,
  usersCommand,
  keysCommand,
  auditCommand,
  migrateCommand,
  backupCommand,
  restoreCommand,
  doctorCommand,
  completionCommand,
];

/** Exit code of a command that did nothing: wrong usage, a missing file, no database. */
const NOTHING_DONE = 2;

/** Runs a command line to its end. Ends the process when that fails, and when commander has answered, as to `--help`. */
export function runCommandLine(application: Application, args: readonly string[]): Promise<void> {
  const program = rollcall(application, (code) => process.exit(code === 0 ? 0 : NOTHING_DONE));
  const work = async () => {
    await program.parseAsync(args, { from: 'user' });
  };
  return runProgram('rollcall cannot do this.', work, NOTHING_DONE);
}

/** The program `rollcall` with all of its commands. @param exit ends the process, with its code. */
export function rollcall(application: Application, exit: (code: number) => never): Command {
  const program = new Command('rollcall')
    .description(
      'Users of an intranet, kept in step with an identity source. Settings: environment variables or .env.',
    )
    .version(VERSION)
    .addHelpText('after', EXIT_CODES)
    .showHelpAfterError('(see --help)')
    .exitOverride(({ exitCode }) => exit(exitCode));
  for (const command of COMMANDS) program.addCommand(complete(command(application), program, ''));
  return program;
}

/** A command with its examples, and with what commander passes on only to commands that it creates itself. */
function complete(command: Command, parent: Command, path: string): Command {
  command.copyInheritedSettings(parent);
  const name = `${path} ${command.name()}`.trim();
  const examples = EXAMPLES[name] ?? [];
  if (examples.length > 0)
    command.addHelpText('after', `\nExamples:\n${examples.map((line) => `  ${line}`).join('\n')}`);
  for (const child of command.commands) complete(child, command, name);
  return command;
}
