import { Command } from 'commander';
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AuditService } from '../audit/audit.service.js';
import { errorCode } from '../common/errors.js';
import { canonicalUuid } from '../common/uuid.js';
import { UsersExport } from '../import/report/users-export.js';
import { DeletedUsers } from '../users/directory/deleted-users.service.js';
import { CLI_CALLER, type Application, withApplication } from './application.js';
import { peopleCommands } from './people.command.js';

interface Options {
  all?: true;
  out?: string;
}

const HELP = `
Examples:
  rollcall users find jan* --status Active
  rollcall users block jane.doe --url https://users.example.org --key "$KEY"
  rollcall users reset-password admin

Exit codes: 0 done, 2 not done (wrong usage, nobody of that name, a rule, no database or service). Of several users, those that were printed
before the error are changed.`;

export function usersCommand(application: Application): Command {
  const command = new Command('users')
    .description('find, block and reactivate users, reset passwords, write a file, take back deleted ones')
    .addHelpText('after', HELP);
  for (const each of peopleCommands(application)) command.addCommand(each);
  return command.addCommand(exportCommand(application)).addCommand(restoreCommand(application));
}

/** Takes back a user that an identity provider has deleted. */
const restoreCommand = (application: Application) =>
  new Command('restore')
    .description('take back a deleted user, within SCIM_DELETED_DAYS days: as it was, without its groups')
    .argument('<uuid>', 'as `GET /api/0.3/users/deleted` lists it')
    .action(async (text: string) => {
      const uuid = canonicalUuid('<uuid>', text);
      const user = await withApplication(application, (context) =>
        context.get(DeletedUsers).restore(uuid, CLI_CALLER),
      );
      process.stdout.write(`${user.username} (${user.uuid}) is restored: ${user.status}.\n`);
    });

const exportCommand = (application: Application) =>
  new Command('export')
    .description('write users as CSV, in the columns of an import: importing it changes nothing')
    .option('--all', 'also users without an external id')
    .option('--out <file>', 'to a file instead of standard output')
    .action(async ({ all, out }: Options) => {
      await withApplication(application, async (context) => {
        await context.get(AuditService).recordExport(CLI_CALLER, all === true);
        const lines = context.get(UsersExport).lines(all === true);
        await pipeline(
          Readable.from(lines),
          out === undefined ? process.stdout : createWriteStream(out),
        ).catch((error: unknown) => {
          // The reader, such as `head`, has closed the pipe.
          if (errorCode(error) !== 'EPIPE') throw error;
        });
      });
    });
