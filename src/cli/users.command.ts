import { Command } from 'commander';
import { AuditService } from '../audit/audit.service.js';
import { UsersExport } from '../import/report/users-export.js';
import { CLI_CALLER, type Application } from './application.js';
import { deletedCommands } from './deleted.command.js';
import { peopleCommands } from './people.command.js';
import { type Access, type Place, atPlace, placedCommand } from './places/place.js';
import { writeOut } from './write-out.js';

interface Options extends Place {
  all?: true;
  out?: string;
}

const HELP = `
Exit codes: 0 done; 1 a rule refused some of several users; 2 not done (wrong usage, nobody of that name, a rule, no database or service).`;

export function usersCommand(application: Application): Command {
  const command = new Command('users')
    .description('find, block and reactivate users, reset passwords, write a file, take back deleted ones')
    .addHelpText('after', HELP);
  for (const each of peopleCommands(application)) command.addCommand(each);
  for (const each of deletedCommands(application)) command.addCommand(each);
  return command.addCommand(exportCommand(application));
}

const EXPORT: Access<(all: boolean) => AsyncIterable<string>> = {
  local: (context) =>
    async function* lines(all) {
      await context.get(AuditService).recordExport(CLI_CALLER, all);
      yield* context.get(UsersExport).lines(all);
    },
  remote: (service) => (all) => service.text('users/export.csv', { all }),
};

const exportCommand = (application: Application) =>
  placedCommand('export', 'write users as CSV, in the columns of an import: importing it changes nothing')
    .option('--all', 'also users without an external id')
    .option('--out <file>', 'to a file that only you can read, instead of standard output')
    .action(({ all, out, ...place }: Options) =>
      atPlace(application, place, EXPORT, (lines) => writeOut(lines(all === true), out)),
    );
