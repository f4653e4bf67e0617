import { Presets, SingleBar } from 'cli-progress';
import type { ImportRunDto } from '../import/imports.dto.js';
import { RUNNABLE } from '../import/runs/import-run.js';
import type { ImportsAccess } from './places/imports-access.js';
import { table } from './table.js';

const MAX_PROBLEMS = 20;
const FORMAT = '{phase} {bar} {percentage}% {rows}';

/** A run as text for an operator: counts, guards, problems and what to do next. */
export function summary(run: ImportRunDto): string {
  const parts = [`\nImport ${run.id}: ${run.state}${run.dry_run ? ' (dry run)' : ''}\n`];
  const counts = Object.entries(run.counts).filter(([, rows]) => rows > 0);
  if (counts.length > 0) parts.push(table([['Outcome', 'Rows'], ...counts]));
  const { reported, blocked } = run.missing;
  if (reported > 0) parts.push(`Missing in the file: ${reported} users, of them blocked: ${blocked}\n`);
  const hits = run.guards.filter(({ hit }) => hit);
  if (hits.length > 0) {
    parts.push('Guards that were hit:\n', ...hits.map(guardText));
  }
  // All that is wrong with a file is corrected at once; of its rows, some are enough.
  const problems = run.problems.slice(0, run.state === 'failed' ? undefined : MAX_PROBLEMS);
  if (problems.length > 0) {
    const rows = problems.map(({ line, field, code, message }) => [line ?? '', field, code, message]);
    parts.push('Problems:\n', table([['Line', 'Field', 'Code', 'What is wrong'], ...rows]));
  }
  parts.push(...next(run, problems.length));
  return parts.join('\n');
}

/** A guard as an operator reads it: what it means, the number and its limit, some rows before and after. */
function guardText({ name, field, value, limit, hint, examples }: ImportRunDto['guards'][number]): string {
  const head = `${name}${field === null ? '' : ` (${field})`}: ${value}, limit ${limit}. ${hint}\n`;
  if (examples.length === 0) return head;
  const rows = examples.map((row) => [
    String(row.line ?? ''),
    row.external_id,
    shown(row.old),
    shown(row.new),
  ]);
  return head + table([['Line', 'ExternalId', 'Before', 'After'], ...rows]);
}

function shown(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === null || value === undefined ? '' : JSON.stringify(value);
}

function next({ id, state, counts, problems }: ImportRunDto, shown: number): string[] {
  const hints: string[] = [];
  if (counts.error > 0 && (problems.length > shown || counts.error > shown)) {
    hints.push(`All failed rows: rollcall imports failed ${id}\n`);
  }
  if (state === 'needs_approval') {
    hints.push(
      `Nothing is written. Look at the plan: rollcall imports rows ${id}\n` +
        `Then decide on it: rollcall imports approve ${id}, or reject.\n`,
    );
  }
  return hints;
}

/** All of a run was applied, or planned. */
const ALL_APPLIED = 0;
const SOME_FAILED = 1;
const NOTHING_APPLIED = 2;

/** What the end of a run means to a program. */
export function exitCode({ state, counts, missing }: ImportRunDto): number {
  if (state !== 'completed' && state !== 'completed_with_errors' && state !== 'planned')
    return NOTHING_APPLIED;
  const { error, skipped: _, ...applied } = counts;
  if (error === 0) return ALL_APPLIED;
  const anyApplied = Object.values(applied).some((rows) => rows > 0) || missing.blocked > 0;
  return anyApplied ? SOME_FAILED : NOTHING_APPLIED;
}

/** Shows the progress of a run on standard error: as a bar on a terminal, elsewhere as a line per phase. */
class Progress {
  private readonly bar = process.stderr.isTTY
    ? new SingleBar(
        { format: FORMAT, hideCursor: true, barsize: 30, stream: process.stderr },
        Presets.shades_classic,
      )
    : undefined;
  private started = false;
  private phase = '';

  show({ state: phase, progress }: Pick<ImportRunDto, 'state' | 'progress'>): void {
    if (!RUNNABLE.some((state) => state === phase)) return;
    if (phase !== this.phase && !this.bar) process.stderr.write(`${phase} …\n`);
    this.phase = phase;
    if (!this.bar) return;
    const total = progress.rows_total === null ? '' : ` of ${progress.rows_total}`;
    const payload = { phase: phase.padEnd(10), rows: `${progress.rows_done}${total} rows` };
    if (this.started) this.bar.update(progress.percent, payload);
    else this.bar.start(100, progress.percent, payload);
    this.started = true;
  }

  end(): void {
    if (this.started) this.bar?.stop();
  }
}

/** The run when it has ended or waits for a decision, with its progress on standard error. */
export async function followed(imports: ImportsAccess, id: string): Promise<ImportRunDto> {
  const progress = new Progress();
  for await (const run of imports.watch(id)) progress.show(run);
  progress.end();
  return imports.get(id);
}
