import { Command } from 'commander';
import { SHUTDOWN_SIGNALS } from '../platform/common/signals.js';
import { VERSION } from '../platform/common/version.js';
import { runProgram } from '../platform/config/settings.js';
import type { Application } from './application.js';
import { createAuditCommand } from './audit.command.js';
import { createBackupCommand, createMigrateCommand, createRestoreCommand } from './database.command.js';
import { createDoctorCommand } from './doctor.command.js';
import { createImportCommand, createImportsCommand } from './import.command.js';
import { createKeysCommand } from './keys.command.js';
import { EXIT, handleOutputErrors } from './output.js';
import { createProfilesCommand } from './profiles.command.js';
import { createUsersCommand } from './users.command.js';

const EXIT_CODES = `
Exit codes: 0 done, 2 nothing done (invalid usage, invalid setting, unknown id, no database).
The commands import, imports, profiles, users, audit, restore and doctor have further exit codes: see their --help.`;

/** Maps commands to the examples in their `--help`. A test parses each example. */
export const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  start: ['PORT=8080 rollcall start'],
  import: [
    'rollcall import payroll.csv --profile payroll --dry-run',
    'rollcall import payroll.csv --profile payroll --url https://users.example.org --key-file key',
  ],
  'imports list': ['rollcall imports list --state needs_approval'],
  'imports show': ['rollcall imports show 01a20567-510b-7784-96a9-af0ad60d9554'],
  'imports rows': ['rollcall imports rows 01a20567-510b-7784-96a9-af0ad60d9554 --outcome error updated'],
  'imports approve': ['rollcall imports approve 01a20567-510b-7784-96a9-af0ad60d9554'],
  'imports reject': ['rollcall imports reject 01a20567-510b-7784-96a9-af0ad60d9554'],
  'imports cancel': ['rollcall imports cancel 01a20567-510b-7784-96a9-af0ad60d9554'],
  'imports revert': ['rollcall imports revert 01a20567-510b-7784-96a9-af0ad60d9554 --dry-run'],
  'imports failed': ['rollcall imports failed 01a20567-510b-7784-96a9-af0ad60d9554 --out failed.csv'],
  'imports fix': [
    'rollcall imports fix 01a20567-510b-7784-96a9-af0ad60d9554 failed.csv --adopt-rows 12,17 --dry-run',
  ],
  'profiles list': ['rollcall profiles list'],
  'profiles show': ['rollcall profiles show payroll --out payroll.json'],
  'profiles edit': ['EDITOR=nano rollcall profiles edit payroll'],
  'profiles check': ['rollcall profiles check payroll.csv --profile payroll'],
  'users find': ["rollcall users find 'jan*' --status Active --sort surname --order asc"],
  'users show': ['rollcall users show jane.doe'],
  'users create': [
    'rollcall users create --username sam.lee --email sam.lee@example.org --surname Lee --manager jane.doe',
  ],
  'users block': ['rollcall users block jane.doe --url https://users.example.org --key-file key'],
  'users reactivate': ['rollcall users reactivate jane.doe'],
  'users delete': ["rollcall users delete sam.lee --reason 'left the company'"],
  'users reset-password': ['rollcall users reset-password admin'],
  'users export': ['rollcall users export --all --out users.csv'],
  'users deleted': ['rollcall users deleted --since 2026-01-31'],
  'users restore': ['rollcall users restore sam.lee'],
  'keys create': ["rollcall keys create 'HR connector' --scope users:read --scope users:write --expires 90d"],
  'keys list': ['rollcall keys list --json'],
  'keys revoke': ['rollcall keys revoke 01a20567-8f4d-7a16-b2c3-8d2b6e0f4c97'],
  'keys fuse': ['rollcall keys fuse 01a20567-8f4d-7a16-b2c3-8d2b6e0f4c97'],
  'audit list': ['rollcall audit list --action user.blocked --since 2026-01-31'],
  'audit verify': ['rollcall audit verify --json'],
  migrate: ['rollcall migrate'],
  backup: ['rollcall backup /srv/backup/rollcall.gz'],
  restore: ['rollcall restore /srv/backup/rollcall.gz --check'],
  doctor: ['rollcall doctor'],
  'doctor scim': ['rollcall doctor scim --profile entra --url https://users.example.org'],
};

const START_HELP = `
Settings are environment variables or lines of .env in this folder. Data is stored in DATA_DIR (./data). The first start creates a
Webmaster and an API key, and prints them once. The signals
${SHUTDOWN_SIGNALS.join(', ')} end the service with exit code 0.
\`rollcall\` without a command also starts the service.`;

const createStartCommand = () =>
  new Command('start')
    .description('start the service')
    .addHelpText('after', START_HELP)
    .action(async () => {
      await import(new URL('./main.js', import.meta.url).href);
    });

const COMMANDS = [
  createStartCommand,
  createImportCommand,
  createImportsCommand,
  createProfilesCommand,
  createUsersCommand,
  createKeysCommand,
  createAuditCommand,
  createMigrateCommand,
  createBackupCommand,
  createRestoreCommand,
  createDoctorCommand,
];

/** Runs a command line. Ends the process after an error, and after options such as `--help`. */
export function runCommandLine(application: Application, args: readonly string[]): Promise<void> {
  const program = createProgram(application, (code) => process.exit(code === 0 ? 0 : EXIT.nothingDone));
  handleOutputErrors();
  const parseArguments = () => program.parseAsync(args, { from: 'user' }).then(() => undefined);
  return runProgram('rollcall failed.', parseArguments, EXIT.nothingDone);
}

export function createProgram(application: Application, exit: (code: number) => never): Command {
  const program = new Command('rollcall')
    .description('User management for intranets. Settings are environment variables or lines of .env.')
    .version(VERSION)
    .addHelpText('after', EXIT_CODES)
    .showHelpAfterError('(see --help)')
    .exitOverride(({ exitCode }) => exit(exitCode));
  for (const command of COMMANDS) program.addCommand(setUpCommand(command(application), program, ''));
  return program;
}

/**
 * Adds examples to the help of a command and its subcommands. Copies the settings of the parent command, because
 * commander does so only for commands that it creates itself.
 */
function setUpCommand(command: Command, parent: Command, path: string): Command {
  command.copyInheritedSettings(parent);
  const name = `${path} ${command.name()}`.trim();
  const examples = EXAMPLES[name] ?? [];
  if (examples.length > 0)
    command.addHelpText('after', `\nExamples:\n${examples.map((line) => `  ${line}`).join('\n')}`);
  for (const child of command.commands) setUpCommand(child, command, name);
  return command;
}
