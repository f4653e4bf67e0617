import { Command } from 'commander';
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { UsersExport } from '../import/report/users-export.js';
import { type Program, withService } from './service.js';

interface Options {
  all?: true;
  out?: string;
}

export const usersCommand = (program: Program) =>
  new Command('users').description('users as a file').addCommand(
    new Command('export')
      .description('write users as CSV, in the columns of an import: importing it changes nothing')
      .option('--all', 'also users without an external id')
      .option('--out <file>', 'to a file instead of standard output')
      .action(async ({ all, out }: Options) => {
        await withService(program, async (service) => {
          const lines = service.get(UsersExport).lines(all === true);
          await pipeline(
            Readable.from(lines),
            out === undefined ? process.stdout : createWriteStream(out),
          ).catch((error: unknown) => {
            // Whoever reads (`head`) has had enough.
            if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
          });
        });
      }),
  );
