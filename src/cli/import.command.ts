import { Command } from 'commander';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import type { JsonObject } from '../platform/common/json.js';
import { RequestedOptions } from '../import/runs/import-options.js';
import type { ImportRunDto } from '../import/imports.dto.js';
import type { Preview } from '../import/mapping/import-preview.js';
import { readInput } from '../platform/input/read-input.js';
import type { Application } from './application.js';
import { exitCode, followed, summary } from './import-output.js';
import { type ImportsAccess, LocalImports } from './places/imports-access.js';
import { RemoteImports } from './places/imports-remote.js';
import { type Access, PLACE_FLAGS, type Place, atPlace, changingCommand } from './places/place.js';
import { snakeCase } from './places/query-of.js';
import { LocalUploads, RemoteUploads, type Uploads } from './places/uploads.js';
import { previewText } from './preview-output.js';
import { isProfileFile } from './profile-file.js';
import { toJson } from './table.js';

const ALL_APPLIED = 0;
const SOME_FAILED = 1;
const NOTHING_APPLIED = 2;

const EXIT_CODES = `
Exit codes: 0 all applied (or, with --dry-run, planned without an error), 1 some rows failed,
2 nothing applied: every row failed, refused, parked for approval, or cancelled.`;

interface Flags extends Place {
  preview?: boolean;
  approve?: boolean;
}

/** Where files are imported, and what becomes of their runs. */
interface Imports {
  uploads: Uploads;
  runs: ImportsAccess;
}

const ACCESS: Access<Imports> = {
  local: (context, caller) => ({
    uploads: new LocalUploads(context, caller),
    runs: new LocalImports(context, caller),
  }),
  remote: (service) => ({ uploads: new RemoteUploads(service), runs: new RemoteImports(service) }),
};

export const importCommand = (application: Application) =>
  changingCommand('import', 'import a CSV file of users ("-" is standard input)')
    .argument('<file>')
    .option('--dry-run', 'plan only: nothing is written')
    .option('--preview', 'show what the file is and what is wrong with it, and stop')
    .option('--profile <name>', 'how the file is read: the name of a profile, or a JSON file')
    .option('--mode <mode>', 'upsert, create_only or update_only')
    .option('--missing <what>', 'users that the file lacks: keep, report or block')
    .option(
      '--returning <what>',
      'users blocked because the file lacked them, when it has them: reactivate or report',
    )
    .option('--dataset <name>', 'name of the source')
    .option('--part <name>', 'this file is one of several of the data set')
    .option('--blank-cells <what>', 'clear or keep')
    .option('--adopt <field>', 'take over users without external id by email or username')
    .option('--default-roles <roles>', 'roles of new users whose row names none, separated by ;')
    .option('--delimiter <character>', 'one of , ; | tab')
    .option('--encoding <name>', 'such as windows-1252')
    .option('--ignore-unknown-columns', 'instead of refusing the file')
    .option('--allow-privileged', "grant Webmaster, change a Webmaster's status or roles")
    .option('--expected-rows <number>', 'refuse a file with another number of rows')
    .option('--approve', 'approve the import if it is parked')
    .addHelpText('after', EXIT_CODES)
    .action(async (file: string, { approve, preview, ...flags }: Flags, command: Command) => {
      const asked = readOptions(flags, command);
      if (file !== '-') await access(file, constants.R_OK); // before a database is opened, which might be migrated
      await atPlace(application, flags, ACCESS, async ({ uploads, runs }) => {
        if (preview) {
          const shown = await uploads.preview(file, asked);
          process.stdout.write(flags.json ? toJson(shown) : previewText(shown));
          process.exitCode = previewCode(shown);
          return;
        }
        const run = await importFile(uploads, runs, file, asked, approve === true);
        process.stdout.write(flags.json ? toJson(run) : summary(run));
        process.exitCode = exitCode(run);
      });
    });

/** The flags as options by name, valid by the rules of `POST /imports`; ends the program on a fault. */
function readOptions(flags: object, command: Command): JsonObject {
  const set = Object.entries(flags).filter(([name, value]) => value !== undefined && !PLACE_FLAGS.has(name));
  const asked: JsonObject = Object.fromEntries(set.map(([name, flag]) => [snakeCase(name), String(flag)]));
  const { profile, ...others } = asked;
  const isFile = typeof profile === 'string' && isProfileFile(profile);
  const [fault] = readInput(RequestedOptions, isFile ? others : asked).errors;
  if (fault) command.error(`error: option '--${fault.field.replaceAll('_', '-')}' ${fault.message}`);
  return asked;
}

/** @returns the exit code: whether the file would be refused, or rows of it. */
function previewCode({ problems }: Preview): number {
  if (problems.some(({ refuses }) => refuses)) return NOTHING_APPLIED;
  return problems.length > 0 ? SOME_FAILED : ALL_APPLIED;
}

/** Imports a file, and waits until its run has ended or waits for a decision. */
async function importFile(
  uploads: Uploads,
  runs: ImportsAccess,
  file: string,
  asked: JsonObject,
  approve: boolean,
): Promise<ImportRunDto> {
  const id = await uploads.start(file, asked);
  const stop = cancelOnInterrupt(runs, id);
  try {
    const run = await followed(runs, id);
    if (run.state !== 'needs_approval' || !approve) return run;
    process.stderr.write(summary(run));
    await runs.decide(id, 'apply', false);
    return await followed(runs, id);
  } finally {
    stop();
  }
}

/** Ctrl-C cancels the run at its next batch. A second Ctrl-C ends this program; a running service then continues the run. */
function cancelOnInterrupt(runs: ImportsAccess, id: string): () => void {
  const interrupt = (): void => {
    process.stderr.write('\nStopping at the next batch; press Ctrl-C again to leave.\n');
    process.once('SIGINT', () => process.exit(NOTHING_APPLIED));
    // A run that has just ended cannot be cancelled; its state is reported.
    runs.decide(id, 'cancel', false).catch(() => undefined);
  };
  process.once('SIGINT', interrupt);
  return () => process.off('SIGINT', interrupt);
}
