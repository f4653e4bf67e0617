import { Command } from 'commander';
import { randomUUID } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { RowsQuery, RunsQuery } from '../import/import.query.js';
import type { ImportRowPageDto, ImportRunDto, ImportRunPageDto } from '../import/imports.dto.js';
import type { Preview } from '../import/mapping/import-preview.js';
import { PROFILE_NAME, RequestedOptions } from '../import/runs/import-options.js';
import { RUNNABLE } from '../import/runs/run-states.js';
import { type JsonObject, isObject } from '../platform/common/json.js';
import { isUuid } from '../platform/common/uuid.js';
import type { UserPageDto } from '../users/user.view.js';
import type { Application } from './application.js';
import { previewText, rowsTable, runText, runsTable, summary } from './import-output.js';
import { createBar, print, printMore, printNextOffset, writeOut } from './output.js';
import type { SentFile, ServiceClient } from './service-client.js';
import { type Target, assertFields, changingCommand, toFields, queryOf, targetCommand } from './target.js';

/** All of a file was applied, or planned. */
const ALL_APPLIED = 0;
const SOME_FAILED = 1;
const NOTHING_APPLIED = 2;

const IMPORT_CODES = `
Exit codes: 0 all applied (or, with --dry-run, planned without an error), 1 some rows failed,
2 nothing applied: every row failed, refused, parked for approval, or cancelled.`;
const IMPORTS_CODES = `
Exit codes of approve and revert: as those of import (0 all applied, 1 some rows failed, 2 nothing applied or parked).
Otherwise: 0 done, 2 nothing done (wrong usage, unknown id, wrong state, no database or service).`;

interface ImportFlags extends Target {
  preview?: boolean;
  approve?: boolean;
}

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
    .addHelpText('after', IMPORT_CODES)
    .action(async (file: string, { approve, preview, ...flags }: ImportFlags, command: Command) => {
      const { profile, ...options } = toFields(flags);
      const isFile = typeof profile === 'string' && isProfileFile(profile);
      const query = { ...options, ...(!isFile && profile !== undefined && { profile }) };
      assertFields(RequestedOptions, texts(query), command);
      if (file !== '-') await access(file, constants.R_OK); // before a database is opened, which might be migrated
      await application.use(flags, async (service) => {
        const upload = isFile ? await withProfile(service, file, profile) : fileOf(file);
        if (preview) {
          const shown = await service.json<Preview>('POST', 'imports/preview', { query, file: upload });
          print(flags, shown, previewText(shown));
          process.exitCode = previewCode(shown);
          return;
        }
        await assertUsers(service);
        const { id } = await service.json<ImportRunDto>('POST', 'imports', { query, file: upload });
        const run = await followImport(service, id, approve === true);
        print(flags, run, summary(run));
        process.exitCode = exitCode(run);
      });
    });

/** Returns options as they are in a query: texts. */
const texts = (options: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(options).map(([name, value]) => [name, String(value)]));

const bytesOf = (file: string): Readable => (file === '-' ? process.stdin : createReadStream(file));
const nameOf = (file: string): string => (file === '-' ? 'stdin.csv' : basename(file));
const fileOf = (file: string): SentFile => ({ type: 'text/csv', name: nameOf(file), bytes: bytesOf(file) });

/** Whether `--profile` names a file, and not a profile of the service. */
const isProfileFile = (profile: string): boolean => /\.json$|[/\\]/i.test(profile);

/**
 * Returns a form of a CSV file with a profile in a JSON file, which is as `PUT /import_profiles/{name}` takes it. A service
 * takes such a form at its private socket alone.
 * @throws Error for another service, and naming a profile that cannot be read or is not a JSON object.
 */
async function withProfile({ isLocal }: ServiceClient, file: string, profile: string): Promise<SentFile> {
  if (!isLocal)
    throw new Error(
      `A service reads no file ${profile}: save the profile (PUT /import_profiles/NAME), and name it.`,
    );
  const document = readDocument(profile, await readFile(profile, 'utf8'));
  const name = basename(profile).replace(/\.json$/i, '');
  const fields = {
    profile: PROFILE_NAME.test(name) ? name : 'file',
    profile_document: JSON.stringify(document),
  };
  const boundary = randomUUID();
  async function* parts(): AsyncGenerator<string | Buffer> {
    for (const [field, value] of Object.entries(fields))
      yield `--${boundary}\r\nContent-Disposition: form-data; name="${field}"\r\n\r\n${value}\r\n`;
    const fileName = encodeURIComponent(nameOf(file)).replace(
      /['()*]/g,
      (sign) => `%${sign.charCodeAt(0).toString(16)}`,
    );
    yield `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename*=UTF-8''${fileName}\r\n\r\n`;
    for await (const chunk of bytesOf(file) as AsyncIterable<Buffer>) yield chunk;
    yield `\r\n--${boundary}--\r\n`;
  }
  return { type: `multipart/form-data; boundary=${boundary}`, name, bytes: Readable.from(parts()) };
}

function readDocument(path: string, text: string): JsonObject {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    throw new Error(`The profile ${path} is not JSON.`);
  }
  if (!isObject(document)) throw new Error(`The profile ${path} is not a JSON object.`);
  return document;
}

/** @throws Error for a database without users: it is not the one of a service, or its name is mistyped. */
async function assertUsers(service: ServiceClient): Promise<void> {
  if (!service.isLocal) return; // a key was created by a service
  const { Count } = await service.json<UserPageDto>('GET', 'users/search', { query: { limit: 1 } });
  if (Count === 0)
    throw new Error(
      'This database has no users. Start the service on it once: that makes the first Webmaster.',
    );
}

/** Returns the exit code for a preview: whether the file would be refused, or rows of it. */
function previewCode({ problems }: Preview): number {
  if (problems.some(({ refuses }) => refuses)) return NOTHING_APPLIED;
  return problems.length > 0 ? SOME_FAILED : ALL_APPLIED;
}

/** Returns the exit code for a run that has ended. */
function exitCode({ state, counts, missing }: ImportRunDto): number {
  if (state !== 'completed' && state !== 'completed_with_errors' && state !== 'planned')
    return NOTHING_APPLIED;
  const { error, skipped: _, ...applied } = counts;
  if (error === 0) return ALL_APPLIED;
  const anyApplied = Object.values(applied).some((rows) => rows > 0) || missing.blocked > 0;
  return anyApplied ? SOME_FAILED : NOTHING_APPLIED;
}

/** Waits until an import has ended or waits for a decision. @param approve it is approved then. */
async function followImport(service: ServiceClient, id: string, approve: boolean): Promise<ImportRunDto> {
  const stop = cancelOnInterrupt(service, id);
  try {
    const run = await follow(service, id);
    if (run.state !== 'needs_approval' || !approve) return run;
    process.stderr.write(summary(run));
    await decide(service, id, 'apply');
    return await follow(service, id);
  } finally {
    stop();
  }
}

/** Ctrl-C cancels the run at its next batch. A second Ctrl-C ends this program; a running service then continues the run. */
function cancelOnInterrupt(service: ServiceClient, id: string): () => void {
  const interrupt = (): void => {
    process.stderr.write('\nStopping at the next batch; press Ctrl-C again to leave.\n');
    process.once('SIGINT', () => process.exit(NOTHING_APPLIED));
    // A run that has just ended cannot be cancelled; its state is reported.
    decide(service, id, 'cancel').catch(() => undefined);
  };
  process.once('SIGINT', interrupt);
  return () => process.off('SIGINT', interrupt);
}

const getRun = (service: ServiceClient, id: string): Promise<ImportRunDto> =>
  service.json('GET', `imports/${id}`);

const EVENT = /^data: (.*)$/;

/** Waits until a run has ended or waits for a decision, with its progress on standard error. */
async function follow(service: ServiceClient, id: string): Promise<ImportRunDto> {
  const progress = new Progress();
  let text = '';
  for await (const piece of service.text(`imports/${id}/events`)) {
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

/** Shows the progress of a run on standard error: as a bar on a terminal, elsewhere as a line per phase. */
class Progress {
  private readonly bar = createBar('{phase} {bar} {percentage}% {rows}');
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

/** What an operator decides about a run. */
type Decision = 'apply' | 'reject' | 'cancel' | 'revert';

/** Decides about a run. @returns the run that this leads to. */
const decide = (
  service: ServiceClient,
  id: string,
  decision: Decision,
  query: object = {},
): Promise<ImportRunDto> => service.json('POST', `imports/${id}/${decision}`, { query });

interface RunFlags extends Target {
  dryRun?: true;
  out?: string;
}

export const importsCommand = (application: Application) => {
  const ofRun = (name: string, description: string) =>
    targetCommand(name, description).argument('<id>', '', parseId);
  const decision = (name: string, what: Decision, description: string) =>
    changingCommand(name, description)
      .argument('<id>', '', parseId)
      .action((id: string, flags: RunFlags) =>
        application.use(flags, (service) => decideAndWait(service, id, what, flags)),
      );
  return new Command('imports')
    .description('runs of imports: look at them, and decide on those that wait')
    .addHelpText('afterAll', IMPORTS_CODES)
    .addCommand(
      targetCommand('list', 'all runs, newest first')
        .option('--state <state...>', 'such as needs_approval; several mean any of them')
        .option('--dataset <name>', 'of one data set')
        .option('--limit <number>', 'runs, at most 100', '25')
        .option('--offset <number>', 'runs to leave out', '0')
        .action((flags: Target, self: Command) => {
          const query = queryOf(RunsQuery, flags, self);
          return application.use(flags, async (service) => {
            const page = await service.json<ImportRunPageDto>('GET', 'imports', { query });
            print(flags, page, runsTable(page.Results));
            printNextOffset(page, query['offset']);
          });
        }),
    )
    .addCommand(
      ofRun('show', 'one run: state, counts, guards, problems').action((id: string, flags: Target) =>
        application.use(flags, async (service) => {
          const run = await getRun(service, id);
          print(flags, run, runText(run));
        }),
      ),
    )
    .addCommand(
      ofRun('rows', 'rows of a run, with what changes or what is wrong; unchanged ones are counted only')
        .option('--outcome <outcome...>', 'such as error; several mean any of them')
        .option('--code <code>', 'of the first error or warning')
        .option('--external-id <id...>', 'the rows of one person, or of several')
        .option('--limit <number>', 'rows, at most 100', '25')
        .option('--after <line>', 'below this line')
        .action((id: string, flags: Target, self: Command) => {
          const query = queryOf(RowsQuery, flags, self);
          return application.use(flags, async (service) => {
            const { next, ...page } = await service.page<ImportRowPageDto>(`imports/${id}/rows`, query);
            print(flags, page, rowsTable(page.Results));
            if (next !== undefined) printMore(page.Count, `--after ${next}`);
          });
        }),
    )
    .addCommand(decision('approve', 'apply', 'apply a plan, or approve a parked run, and wait for its end'))
    .addCommand(decision('reject', 'reject', 'refuse a plan or a parked run'))
    .addCommand(decision('cancel', 'cancel', 'stop a run at its next batch; what is applied stays'))
    .addCommand(
      decision('revert', 'revert', 'undo a run with a new one, and wait for its end').option(
        '--dry-run',
        'plan it only; "imports approve" applies the plan',
      ),
    )
    .addCommand(
      ofRun('failed', 'the failed rows as CSV, to be corrected and imported again')
        .option('--out <file>', 'to a file instead of standard output')
        .action((id: string, flags: RunFlags) =>
          application.use(flags, (service) => writeOut(service.text(`imports/${id}/failed.csv`), flags.out)),
        ),
    );
};

async function decideAndWait(
  service: ServiceClient,
  id: string,
  what: Decision,
  flags: RunFlags,
): Promise<void> {
  const query = what === 'revert' ? { dry_run: flags.dryRun === true } : {};
  const decided = await decide(service, id, what, query);
  const run = what === 'reject' ? decided : await follow(service, decided.id);
  print(flags, run, runText(run));
  if (what === 'apply' || what === 'revert') process.exitCode = exitCode(run);
}

/** @throws Error for an invalid id. */
function parseId(text: string): string {
  if (isUuid(text)) return text.toLowerCase();
  throw new Error(`${text.slice(0, 100)} is not the id of an import; "rollcall imports list" shows them.`);
}
