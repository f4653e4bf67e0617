import { Command } from 'commander';
import { isUuid } from '../platform/common/uuid.js';
import { RowsQuery, RunsQuery } from '../import/import.query.js';
import type { ImportRunDto } from '../import/imports.dto.js';
import type { Application } from './application.js';
import { exitCode, followed } from './import-output.js';
import { type Decision, type ImportsAccess, LocalImports } from './places/imports-access.js';
import { rowsTable, runText, runsTable } from './imports-output.js';
import { RemoteImports } from './places/imports-remote.js';
import { queryOf } from './places/query-of.js';
import { type Access, type Place, atPlace, changingCommand, placedCommand } from './places/place.js';
import { toJson } from './table.js';
import { writeOut } from './write-out.js';

const EXIT_CODES = `
Exit codes of approve and revert: as those of import (0 all applied, 1 some rows failed, 2 nothing applied or parked).
Otherwise: 0 done, 2 nothing done (wrong usage, unknown id, wrong state, no database or service).`;

interface Flags extends Place {
  dryRun?: true;
  out?: string;
}

/** Imports of this database, or of a running service. */
export const importsCommand = (application: Application) => {
  const one = (name: string, description: string) =>
    placedCommand(name, description).argument('<id>', '', parseId);
  const decision = (name: string, what: Decision, description: string) =>
    changingCommand(name, description)
      .argument('<id>', '', parseId)
      .action((id: string, flags: Flags) =>
        using(application, flags, (imports) => decide(imports, id, what, flags)),
      );
  return new Command('imports')
    .description('runs of imports: look at them, and decide on those that wait')
    .addHelpText('afterAll', EXIT_CODES)
    .addCommand(
      placedCommand('list', 'all runs, newest first')
        .option('--state <state...>', 'such as needs_approval; several mean any of them')
        .option('--dataset <name>', 'of one data set')
        .option('--limit <number>', 'runs, at most 100', '25')
        .option('--offset <number>', 'runs to leave out', '0')
        .action((flags: Flags, self: Command) =>
          using(application, flags, (imports) => list(imports, queryOf(RunsQuery, flags, self), flags)),
        ),
    )
    .addCommand(
      one('show', 'one run: state, counts, guards, problems').action((id: string, flags: Flags) =>
        using(application, flags, async (imports) => {
          print(await imports.get(id), flags);
        }),
      ),
    )
    .addCommand(
      one('rows', 'rows of a run, with what changes or what is wrong; unchanged ones are counted only')
        .option('--outcome <outcome...>', 'such as error; several mean any of them')
        .option('--code <code>', 'of the first error or warning')
        .option('--external-id <id...>', 'the rows of one person, or of several')
        .option('--limit <number>', 'rows, at most 100', '25')
        .option('--after <line>', 'below this line')
        .action((id: string, flags: Flags, self: Command) =>
          using(application, flags, (imports) => rows(imports, id, queryOf(RowsQuery, flags, self), flags)),
        ),
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
      one('failed', 'the failed rows as CSV, to be corrected and imported again')
        .option('--out <file>', 'to a file instead of standard output')
        .action((id: string, flags: Flags) =>
          using(application, flags, (imports) => writeOut(imports.failed(id), flags.out)),
        ),
    );
};

const ACCESS: Access<ImportsAccess> = {
  local: (context, caller) => new LocalImports(context, caller),
  remote: (service) => new RemoteImports(service),
};
const using = (application: Application, flags: Flags, work: (imports: ImportsAccess) => Promise<void>) =>
  atPlace(application, flags, ACCESS, work);

async function list(imports: ImportsAccess, query: RunsQuery, { json }: Flags): Promise<void> {
  const { Count: count, Results: runs } = await imports.list(query);
  process.stdout.write(json ? toJson({ Count: count, Results: runs }) : runsTable(runs));
  const next = query.offset + runs.length;
  if (next < count && runs.length > 0) process.stderr.write(`There are ${count}: --offset ${next}\n`);
}

async function rows(imports: ImportsAccess, id: string, query: RowsQuery, { json }: Flags): Promise<void> {
  const { found, next } = await imports.rows(id, query);
  process.stdout.write(json ? toJson(found) : rowsTable(found.Results));
  if (next !== undefined) process.stderr.write(`There are ${found.Count}: --after ${next}\n`);
}

async function decide(imports: ImportsAccess, id: string, what: Decision, flags: Flags): Promise<void> {
  const decided = await imports.decide(id, what, flags.dryRun === true);
  if (what === 'reject' || what === 'cancel') {
    print(what === 'cancel' ? await followed(imports, decided.id) : decided, flags);
    return;
  }
  const run = await followed(imports, decided.id);
  print(run, flags);
  process.exitCode = exitCode(run);
}

function print(run: ImportRunDto, { json }: Flags): void {
  process.stdout.write(json ? toJson(run) : runText(run));
}

/** @throws Error for what is no id of a run. */
function parseId(text: string): string {
  if (isUuid(text)) return text.toLowerCase();
  throw new Error(`${text.slice(0, 100)} is not the id of an import; "rollcall imports list" shows them.`);
}
