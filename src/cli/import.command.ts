import type { INestApplicationContext } from '@nestjs/common';
import { Command } from 'commander';
import { constants, createReadStream } from 'node:fs';
import { access } from 'node:fs/promises';
import { basename } from 'node:path';
import { readInput } from '../input/read-input.js';
import { ImportStore } from '../import/file/import-store.js';
import { RequestedOptions } from '../import/runs/import-options.js';
import { FileHead } from '../import/file/file-head.js';
import { ImportPreview } from '../import/profiles/import-preview.js';
import { ImportProfiles } from '../import/profiles/import-profiles.service.js';
import { ImportRequests, type Requested } from '../import/profiles/requested-options.js';
import { presentRun } from '../import/import.view.js';
import { RunQueue } from '../import/apply/run-queue.service.js';
import { ImportsService } from '../import/imports.service.js';
import { RunEvents } from '../import/report/run-events.js';
import type { ImportRun } from '../import/runs/import-run.js';
import { FirstStart } from '../setup/first-start.service.js';
import { credentials } from '../setup/welcome.js';
import { Progress, exitCode, summary } from './import-output.js';
import { previewText } from './preview-output.js';
import { byProfileFile, isProfileFile } from './profile-file.js';
import type { JsonObject } from '../common/json.js';
import { snakeCase } from './query-of.js';
import { CLI_CALLER, type Application, withApplication } from './application.js';

const ALL_APPLIED = 0;
const SOME_FAILED = 1;
const NOTHING_APPLIED = 2;

const EXIT_CODES = `
Exit codes: 0 all applied (or, with --dry-run, planned without an error), 1 some rows failed,
2 nothing applied: every row failed, refused, parked for approval, or cancelled.`;

interface Flags extends Record<string, string | boolean | undefined> {
  preview?: boolean;
  approve?: boolean;
  json?: boolean;
}

export const importCommand = (application: Application) =>
  new Command('import')
    .description('import a CSV file of users ("-" is standard input)')
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
    .option('--json', 'print the run as JSON')
    .addHelpText('after', EXIT_CODES)
    .action(async (file: string, { approve, json, preview, ...flags }: Flags, command: Command) => {
      const asked = readOptions(flags, command);
      if (file !== '-') await access(file, constants.R_OK); // before a database is opened, which a first start might change
      process.exitCode = await withApplication(application, async (context) => {
        const requested = await resolved(context, asked);
        if (preview) return showPreview(context, file, requested, json === true);
        await firstStart(context);
        const run = await importFile(context, file, requested, approve === true);
        const failed = await context.get(ImportsService).firstProblems(run.id);
        const shown = presentRun(run, failed);
        process.stdout.write(json ? `${JSON.stringify(shown, null, 2)}\n` : summary(shown));
        return exitCode(shown);
      });
    });

/** Runs the first start before an import: users from the file would otherwise prevent it later. */
async function firstStart(context: INestApplicationContext): Promise<void> {
  const first = await context.get(FirstStart).run();
  if (first) process.stderr.write(`${credentials(first).join('\n')}\n`);
}

/** The flags as options by name, valid by the rules of `POST /imports`; ends the program on a fault. */
function readOptions(flags: Record<string, unknown>, command: Command): JsonObject {
  const set = Object.entries(flags).filter(([, value]) => value !== undefined);
  const asked: JsonObject = Object.fromEntries(set.map(([name, flag]) => [snakeCase(name), String(flag)]));
  const { profile, ...others } = asked;
  const isFile = typeof profile === 'string' && isProfileFile(profile);
  const [fault] = readInput(RequestedOptions, isFile ? others : asked).errors;
  if (fault) command.error(`error: option '--${fault.field.replaceAll('_', '-')}' ${fault.message}`);
  return asked;
}

/** @throws ProblemError for a profile that there is not, or one that is not valid. */
async function resolved(context: INestApplicationContext, asked: JsonObject): Promise<Requested> {
  const { profile } = asked;
  return typeof profile === 'string' && isProfileFile(profile)
    ? byProfileFile(profile, asked, context.get(ImportProfiles))
    : context.get(ImportRequests).of(asked);
}

/** @returns the exit code: whether the file would be refused, or rows of it. */
async function showPreview(
  context: INestApplicationContext,
  file: string,
  requested: Requested,
  json: boolean,
): Promise<number> {
  const head = new FileHead();
  await head.store(file, file === '-' ? process.stdin : createReadStream(file));
  const preview = await context.get(ImportPreview).of(head, requested, CLI_CALLER);
  process.stdout.write(json ? `${JSON.stringify(preview, null, 2)}\n` : previewText(preview));
  if (preview.problems.some(({ refuses }) => refuses)) return NOTHING_APPLIED;
  return preview.problems.length > 0 ? SOME_FAILED : ALL_APPLIED;
}

async function importFile(
  context: INestApplicationContext,
  file: string,
  { options, profile }: Requested,
  approve: boolean,
): Promise<ImportRun> {
  const imports = context.get(ImportsService);
  const queue = context.get(RunQueue);
  queue.assertOptions(options, CLI_CALLER);
  const bytes = file === '-' ? process.stdin : createReadStream(file);
  const stored = await context.get(ImportStore).store(file === '-' ? 'stdin.csv' : basename(file), bytes);
  const { id } = await queue.submit(stored, options, CLI_CALLER, profile);
  const stop = cancelOnInterrupt(imports, id);
  try {
    const run = await follow(context, id);
    if (run.state !== 'needs_approval' || !approve) return run;
    process.stderr.write(summary(presentRun(run, [])));
    await imports.apply(id, CLI_CALLER);
    return await follow(context, id);
  } finally {
    stop();
  }
}

/** Shows the progress of a run until it ends or waits for approval. A service that runs beside may be the one working on it. */
async function follow(context: INestApplicationContext, id: string): Promise<ImportRun> {
  const progress = new Progress();
  let last: ImportRun | undefined;
  for await (const run of context.get(RunEvents).watch(id)) {
    progress.show(presentRun(run, []));
    last = run;
  }
  progress.end();
  if (!last) throw new Error(`Import ${id} no longer exists.`);
  return last;
}

/** Ctrl-C cancels the run at its next batch. A second Ctrl-C ends this program; a running service then continues the run. */
function cancelOnInterrupt(imports: ImportsService, id: string): () => void {
  const interrupt = (): void => {
    process.stderr.write('\nStopping at the next batch; press Ctrl-C again to leave.\n');
    process.once('SIGINT', () => process.exit(NOTHING_APPLIED));
    // A run that has just ended cannot be cancelled; its state is reported.
    imports.cancel(id, CLI_CALLER).catch(() => undefined);
  };
  process.once('SIGINT', interrupt);
  return () => process.off('SIGINT', interrupt);
}
