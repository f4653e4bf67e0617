import { Command } from 'commander';
import { RowsQuery, RunsQuery } from '../import/import.query.js';
import type { ImportRunDto } from '../import/imports.dto.js';
import { RequestedOptions } from '../import/runs/import-options.js';
import { RUNNABLE } from '../import/runs/run-states.js';
import { isUuid } from '../platform/common/uuid.js';
import type { UserPageDto } from '../users/user.view.js';
import type { Application } from './application.js';
import { formatRows, formatRun, formatRuns, formatSummary } from './import-output.js';
import { type ImportSource, buildUpload, parseSource, previewImport } from './import-preview.js';
import { assertReadable } from './named-file.js';
import { EXIT, createProgressBar, print, printPage, writeTextTo } from './output.js';
import type { ServiceClient } from './service-client.js';
import {
  type Target,
  assertValidFields,
  createWriteCommand,
  toFields,
  toQuery,
  createCommand,
} from './target.js';

const IMPORT_CODES = `
Exit codes: 0 all rows applied (with --dry-run: planned without errors), 1 some rows failed,
2 nothing applied: all rows failed, or the import was rejected, waits for approval or was cancelled.`;
const IMPORTS_CODES = `
Exit codes of approve, revert and fix: 0 all rows applied, 1 some rows failed, 2 nothing applied or waiting for approval.
Exit codes of the other commands: 0 done, 2 nothing done (invalid usage, unknown id, wrong state, no database or service).`;

interface ImportFlags extends Target {
  preview?: boolean;
  suggest?: string;
}

export const createImportCommand = (application: Application) =>
  createWriteCommand('import', 'import a CSV file of users ("-" for standard input)')
    .argument('<file>')
    .option('--dry-run', 'only create a plan, without changing any user')
    .option('--preview', 'only show how the file would be read, and its problems')
    .option('--suggest <file>', 'preview the import, and write a suggested profile to this JSON file')
    .option('--profile <name>', 'name of a profile, or a JSON file with a profile')
    .option('--mode <mode>', 'changes to apply: upsert, create_only or update_only')
    .option('--missing <what>', 'action for users missing from the file: keep, report or block')
    .option('--returning <what>', 'action for blocked users who are no longer missing: reactivate or report')
    .option('--dataset <name>', 'name of the data set')
    .option('--part <name>', 'name of the part that this file contains, if the data set has several files')
    .option('--blank-cells <what>', 'effect of blank cells: clear or keep')
    .option('--adopt <field>', 'link users without an external id by this field: email or username')
    .option('--default-roles <roles>', 'roles for new users without roles in their row, separated by ;')
    .option('--delimiter <character>', 'column delimiter: one of , ; | tab')
    .option('--encoding <name>', 'encoding of the file, such as windows-1252')
    .option('--ignore-unknown-columns', 'ignore unknown columns instead of rejecting the file')
    .option('--allow-privileged', 'allow changes to identifiers, status and roles of Webmasters')
    .option('--expected-rows <number>', 'reject the file unless it has this number of rows')
    .addHelpText('after', IMPORT_CODES)
    .action(async (file: string, { preview, suggest, ...flags }: ImportFlags, command: Command) => {
      const { profile, ...options } = toFields(flags);
      const source = parseSource(file, profile, options);
      assertValidFields(RequestedOptions, source.query, command);
      // Check the file before the database is opened, because opening the database may migrate it.
      if (file !== '-') await assertReadable(file);
      await application.runWithClient(flags, async (service) => {
        if (preview || suggest !== undefined) return previewImport(service, source, { ...flags, suggest });
        assertCanImport(service, source);
        await assertHasUsers(service);
        await sendAndWait(service, await buildUpload(source), flags);
      });
    });

/** Sends a file, waits for its run, prints the result and sets the exit code. */
async function sendAndWait(service: ServiceClient, sent: object, flags: Target): Promise<void> {
  const { id } = await service.requestJson<ImportRunDto>('POST', 'imports', sent);
  const stop = cancelOnInterrupt(service, id);
  const run = await waitWithProgress(service, id).finally(stop);
  print(flags, run, formatSummary(run));
  process.exitCode = getExitCode(run);
}

/** @throws Error for a profile file with `--url`, because a service imports only with saved profiles. */
function assertCanImport({ isLocal }: ServiceClient, { profileFile }: ImportSource): void {
  if (isLocal || profileFile === undefined) return;
  throw new Error(
    `With --url, the service cannot read the file ${profileFile}. Save the profile with "rollcall profiles edit NAME --file FILE", and pass its name.`,
  );
}

/** @throws Error if the database contains no users, which suggests a mistyped database name. */
async function assertHasUsers(service: ServiceClient): Promise<void> {
  // The API key of a remote service proves that the service has users.
  if (!service.isLocal) return;
  const { Count } = await service.requestJson<UserPageDto>('GET', 'users/search', { query: { limit: 1 } });
  if (Count === 0)
    throw new Error('This database has no users. Start the service once to create the first Webmaster.');
}

function getExitCode({ state, counts, missing }: ImportRunDto): number {
  if (state !== 'completed' && state !== 'completed_with_errors' && state !== 'planned')
    return EXIT.nothingDone;
  const { error, skipped: _, ...applied } = counts;
  if (error === 0) return EXIT.done;
  const anyApplied = Object.values(applied).some((rows) => rows > 0) || missing.blocked > 0;
  return anyApplied ? EXIT.someFailed : EXIT.nothingDone;
}

/**
 * Cancels the run on the first Ctrl-C. The run then stops at its next batch. A second Ctrl-C ends this program
 * immediately.
 * @returns a function that removes this handler.
 */
function cancelOnInterrupt(service: ServiceClient, id: string): () => void {
  const cancelImport = (): void => {
    process.stderr.write('\nCancelling the import before the next batch. Press Ctrl-C again to exit now.\n');
    process.once('SIGINT', () => process.exit(EXIT.nothingDone));
    // Ignore errors, because the run may already have ended. The state of the run is reported anyway.
    sendDecision(service, id, 'cancel').catch(() => undefined);
  };
  process.once('SIGINT', cancelImport);
  return () => process.off('SIGINT', cancelImport);
}

const getRun = (service: ServiceClient, id: string): Promise<ImportRunDto> =>
  service.requestJson('GET', `imports/${id}`);

const EVENT = /^data: (.*)$/;

async function waitWithProgress(service: ServiceClient, id: string): Promise<ImportRunDto> {
  const progress = new Progress();
  let text = '';
  for await (const piece of service.getText(`imports/${id}/events`)) {
    const lines = (text + piece).split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) {
      const [, run] = EVENT.exec(line) ?? [];
      if (run !== undefined) progress.show(JSON.parse(run) as ImportRunDto);
    }
  }
  progress.end();
  return getRun(service, id);
}

/** Progress of a run on standard error: a bar on a terminal, otherwise one line per phase. */
class Progress {
  private readonly bar = createProgressBar('{phase} {bar} {percentage}% {rows}');
  private phase = '';

  show({ state: phase, progress }: Pick<ImportRunDto, 'state' | 'progress'>): void {
    if (!RUNNABLE.some((state) => state === phase)) return;
    if (phase !== this.phase && !this.bar) process.stderr.write(`${phase} …\n`);
    this.phase = phase;
    if (!this.bar) return;
    const total = progress.rows_total === null ? '' : ` of ${progress.rows_total}`;
    const payload = { phase: phase.padEnd(10), rows: `${progress.rows_done}${total} rows` };
    if (this.bar.isActive) this.bar.update(progress.percent, payload);
    else this.bar.start(100, progress.percent, payload);
  }

  end(): void {
    if (this.bar?.isActive) this.bar.stop();
  }
}

type Decision = 'apply' | 'reject' | 'cancel' | 'revert';

/** Sends a decision about a run. @returns the run itself, or after `revert` the new run that reverts it. */
const sendDecision = (service: ServiceClient, id: string, decision: Decision, query = {}) =>
  service.requestJson<ImportRunDto>('POST', `imports/${id}/${decision}`, { query });

interface RunFlags extends Target {
  dryRun?: true;
  out?: string;
}

export const createImportsCommand = (application: Application) => {
  const createRunCommand = (name: string, description: string) =>
    createCommand(name, description).argument('<id>', '', parseId);
  const createDecisionCommand = (name: string, kind: Decision, description: string) =>
    createWriteCommand(name, description)
      .argument('<id>', '', parseId)
      .action((id: string, flags: RunFlags) =>
        application.runWithClient(flags, (service) => decideAndWait(service, id, kind, flags)),
      );
  return new Command('imports')
    .description('list and show import runs, and approve, reject, cancel, revert or correct runs')
    .addHelpText('afterAll', IMPORTS_CODES)
    .addCommand(
      createCommand('list', 'list runs, newest first')
        .option('--state <state...>', 'only runs in one of these states, such as needs_approval')
        .option('--dataset <name>', 'only runs of this data set')
        .option('--profile <name>', 'only runs that used this profile')
        .option('--actor <id>', 'only runs that this user or API key started')
        .option('--created-since <time>', 'only runs created at or after this time, such as 2026-01-31')
        .option('--created-until <time>', 'only runs created before this time')
        .option('--limit <number>', 'number of runs, at most 100', '25')
        .option('--offset <number>', 'number of runs to skip', '0')
        .action((flags: Target, self: Command) =>
          printPage(application, flags, 'imports', toQuery(RunsQuery, flags, self), formatRuns),
        ),
    )
    .addCommand(
      createRunCommand('show', 'show the details of one run').action((id: string, flags: Target) =>
        application.runWithClient(flags, async (service) => {
          const run = await getRun(service, id);
          print(flags, run, formatRun(run));
        }),
      ),
    )
    .addCommand(
      createRunCommand('rows', 'list rows of a run with their changes and errors, without unchanged rows')
        .option('--outcome <outcome...>', 'only rows with one of these outcomes, such as error')
        .option('--code <code>', 'code of the first error or warning of a row')
        .option('--external-id <id...>', 'only rows with one of these external ids')
        .option('--limit <number>', 'number of rows, at most 100', '25')
        .option('--after <line>', 'only rows after this line')
        .action((id: string, flags: Target, self: Command) =>
          printPage(application, flags, `imports/${id}/rows`, toQuery(RowsQuery, flags, self), formatRows),
        ),
    )
    .addCommand(createDecisionCommand('approve', 'apply', 'apply or approve a run, and wait until it ends'))
    .addCommand(createDecisionCommand('reject', 'reject', 'reject a plan or a run awaiting approval'))
    .addCommand(createDecisionCommand('cancel', 'cancel', 'stop a run, but keep the changes applied so far'))
    .addCommand(
      createDecisionCommand('revert', 'revert', 'undo a run with a new run, and wait for the new run').option(
        '--dry-run',
        'only create a plan, which "imports approve" applies',
      ),
    )
    .addCommand(
      createRunCommand('failed', 'print the failed rows as CSV, to correct and import them again')
        .option('--out <file>', 'write to a file instead of standard output')
        .action((id: string, flags: RunFlags) =>
          application.runWithClient(flags, (service) =>
            writeTextTo(service.getText(`imports/${id}/failed.csv`), flags.out),
          ),
        ),
    )
    .addCommand(
      createWriteCommand('fix', 'import the corrected failed rows of a run, and wait until the import ends')
        .argument('<id>', '', parseId)
        .argument('<file>', 'corrected copy of the file from "imports failed" ("-" for standard input)')
        .option('--dry-run', 'only create a plan, without changing any user')
        .option('--adopt-rows <lines>', 'lines whose conflicting user is the same person, such as 12,17')
        .action(async (corrects: string, file: string, flags: ImportFlags, command: Command) => {
          const query = toQuery(RequestedOptions, flags, command, { corrects });
          if (file !== '-') await assertReadable(file);
          await application.runWithClient(flags, async (service) =>
            sendAndWait(service, await buildUpload({ file, query }), flags),
          );
        }),
    );
};

async function decideAndWait(service: ServiceClient, id: string, kind: Decision, flags: RunFlags) {
  const query = kind === 'revert' ? { dry_run: flags.dryRun === true } : {};
  const decided = await sendDecision(service, id, kind, query);
  const run = kind === 'reject' ? decided : await waitWithProgress(service, decided.id);
  print(flags, run, formatRun(run));
  if (kind === 'apply' || kind === 'revert') process.exitCode = getExitCode(run);
}

function parseId(text: string): string {
  if (isUuid(text)) return text.toLowerCase();
  throw new Error(`${text.slice(0, 100)} is not an import id. "rollcall imports list" shows all imports.`);
}
