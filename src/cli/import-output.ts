import type { ImportRunDto, ImportRowDto } from '../import/imports.dto.js';
import { countChangedRows } from '../import/runs/import-row.js';
import { replaceHidden } from '../platform/common/text.js';
import { formatMinute, formatParty, toTable } from './output.js';
import type { ImportPreviewDto, PreviewProblemDto } from '../import/mapping/import-preview.dto.js';

/** Maximum number of problems in the summary of a run, unless the run failed. */
const MAX_PROBLEMS = 20;
const MAX_PREVIEW_PROBLEMS = 50;
const MAX_PREVIEW_ROWS = 5;
const MAX_TEXT = 120;
const MAX_CELL = 40;

export function formatSummary(run: ImportRunDto): string {
  const parts = [`\nImport ${run.id}: ${run.state}${run.dry_run ? ' (dry run)' : ''}\n`];
  const isPlan = !run.applied && countChanged(run) > 0;
  const nameOf = (outcome: string): string =>
    outcome === 'created' && isPlan && run.created_blocked > 0
      ? `created (${run.created_blocked} blocked)`
      : outcome;
  const counts = Object.entries(run.counts).flatMap(([outcome, rows]) =>
    rows > 0 ? [[nameOf(outcome), rows] as const] : [],
  );
  if (counts.length > 0) parts.push(toTable([[isPlan ? 'Planned' : 'Outcome', 'Rows'], ...counts]));
  const { reported, blocked } = run.missing;
  const time = isPlan ? 'would be' : 'newly';
  if (reported > 0) parts.push(`Users missing from the file: ${reported}, ${time} blocked: ${blocked}\n`);
  const hits = run.guards.filter(({ hit }) => hit);
  if (hits.length > 0) parts.push('Guards that tripped:\n', ...formatGuards(hits));
  const sorted = run.problems.toSorted((a, b) => a.code.localeCompare(b.code));
  const problems = sorted.slice(0, run.state === 'failed' ? undefined : MAX_PROBLEMS);
  parts.push(...formatCauses(run), ...formatProblems(problems), ...formatNextSteps(run, problems.length));
  return parts.join('\n');
}

const countChanged = ({ counts, missing }: ImportRunDto): number =>
  countChangedRows(counts) + missing.blocked;

function formatCauses({ causes, counts }: ImportRunDto): string[] {
  if (causes.length === 0) return [];
  const failures = causes.reduce((sum, cause) => sum + cause.failures, 0);
  const lines = causes.length === 1 ? '1 line causes' : `${causes.length} lines cause`;
  const rows = causes.map((cause) => [cause.line, cause.failures]);
  return [
    `${lines} ${failures} of the ${counts.error} errors:\n`,
    toTable([['Line', 'Failed rows'], ...rows]),
  ];
}

/** A problem of a run or of a preview, which contains no names. */
type ShownProblem = Omit<PreviewProblemDto, 'refuses'> & { name?: string };

function formatProblems(problems: readonly ShownProblem[]): string[] {
  if (problems.length === 0) return [];
  const rows = problems.map(({ line, name = '', field, value = '', code, message }) => {
    return [line ?? '', shorten(name), field, shorten(value), code, message];
  });
  return ['Problems:\n', toTable([['Line', 'Name', 'Field', 'Value', 'Code', 'Message'], ...rows])];
}

/** Maximum number of guards in the line of other guards. */
const MAX_OTHERS = 3;

/** Formats each guard that explains an accident, and lists the other guards in one line. */
function formatGuards(hits: ImportRunDto['guards']): string[] {
  const headOf = ({ name, field, value, limit }: ImportRunDto['guards'][number]): string =>
    `${name}${field === null ? '' : ` (${field})`}: ${value}, limit ${limit}`;
  const texts = hits
    .filter(({ hint }) => hint !== '')
    .map((guard) => {
      const rows = guard.examples.map(({ line, external_id: id, name, ...each }) => {
        const before = each.old_name || formatValue(each.old);
        const after = each.new_name || formatValue(each.new);
        return [String(line ?? ''), id, name, before, after];
      });
      const table =
        rows.length === 0 ? '' : toTable([['Line', 'ExternalId', 'Name', 'Before', 'After'], ...rows]);
      return `${headOf(guard)}. ${guard.hint}\n${table}`;
    });
  const others = hits.filter(({ hint }) => hint === '').map(headOf);
  if (others.length === 0) return texts;
  const rest = others.length > MAX_OTHERS ? ` and ${others.length - MAX_OTHERS} more` : '';
  return [...texts, `Also over their limits: ${others.slice(0, MAX_OTHERS).join('; ')}${rest}\n`];
}

function formatValue(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === null || value === undefined ? '' : JSON.stringify(value);
}

function formatNextSteps({ id, state, counts, problems }: ImportRunDto, shown: number): string[] {
  const hints: string[] = [];
  if (counts.error > 0 && (problems.length > shown || counts.error > shown))
    hints.push(`All failed rows: rollcall imports failed ${id}\n`);
  if (state === 'failed' && problems.some(({ code }) => /_column$|_encoding$/.test(code)))
    hints.push('See how the file is read, and get a profile for it: rollcall import FILE --preview\n');
  if (state === 'needs_approval') {
    hints.push(
      `Nothing was written. Review the plan: rollcall imports rows ${id}\n` +
        `Then approve it: rollcall imports approve ${id}, or reject it.\n`,
    );
  }
  return hints;
}

export function formatRuns(runs: readonly ImportRunDto[]): string {
  const head = ['ID', 'STATE', 'CREATED (UTC)', 'DATA SET', 'ROWS', 'CHANGED', 'FAILED', 'FILE'];
  const cells = runs.map((run) => {
    const users = countChanged(run);
    const changed = run.applied || users === 0 ? users : `${users} planned`;
    const rows = run.progress.rows_total ?? '-';
    const notes = [run.dry_run && 'dry run', run.reverted_by !== null && 'reverted'].filter(Boolean);
    const state = notes.length > 0 ? `${run.state} (${notes.join(', ')})` : run.state;
    const created = formatMinute(run.created);
    const failed = run.counts.error;
    return [run.id, state, created, run.options.dataset, rows, changed, failed, formatSource(run)];
  });
  return toTable([head, ...cells]);
}

export function formatRun(run: ImportRunDto): string {
  const { file, options, profile, actor, approved_by: approver, created, finished, progress } = run;
  const { reverted_by: revert, duration_seconds: duration } = run;
  const size = file.size > 0 ? `, ${file.size} bytes` : '';
  const part = options.part === undefined ? '' : `, part ${options.part}`;
  const address = actor.address && ` from ${actor.address}`;
  const time = duration === null ? '' : `, took ${Math.ceil(duration)} s`;
  const facts = {
    File: formatSource(run) + size,
    Change: run.change && JSON.stringify(run.change),
    'Data set': run.change ? null : options.dataset + part,
    Profile: profile,
    Sent: `${formatMinute(created)} UTC by ${formatParty(actor)}${address}`,
    Approved: approver && `by ${formatParty(approver)}`,
    Progress:
      finished === null
        ? `${progress.percent}%, ${progress.rows_done} of ${progress.rows_total ?? '?'} rows`
        : null,
    Finished: finished && `${formatMinute(finished)} UTC${time}`,
    Reverted: revert && `by ${revert}`,
    Corrects: run.corrects,
  };
  const known = Object.entries(facts).flatMap(([name, text]) => (text ? [[name, text]] : []));
  return `${formatSummary(run)}\n${toTable(known)}`;
}

export function formatRows(rows: readonly ImportRowDto[]): string {
  const cells = rows.map(({ line, outcome, external_id: externalId, name, errors, changes }) => {
    const changed = changes.map(
      ({ field, old_name: old, new_name: value, ...each }) =>
        `${field}: ${shortenValue(old || each.old)} → ${shortenValue(value || each.new)}`,
    );
    const wrong = errors.map(
      ({ field, code, message, value }) =>
        `${code}: ${field} ${message}${value ? ` (${shorten(value)})` : ''}`,
    );
    return [line ?? '', outcome, externalId, name, [...wrong, ...changed].join('; ')];
  });
  return toTable([['Line', 'Outcome', 'ExternalId', 'Name', 'Details'], ...cells]);
}

const shortenValue = (value: unknown): string => shorten(formatValue(value), MAX_TEXT) || '""';

const formatSource = ({ reverts, file }: ImportRunDto): string =>
  reverts === null ? file.name : `revert of ${reverts}`;

export function formatPreview(preview: ImportPreviewDto): string {
  const { encoding, delimiter, columns, rows, problems } = preview;
  const separator = delimiter === '\t' ? 'tab' : (delimiter ?? '?');
  const parts = [`\nEncoding ${encoding ?? '?'}, delimiter ${separator}\n`];
  const meaning = columns.map(({ source, column, use, suggestion }) => [
    shorten(source),
    column ?? use,
    suggestion === null ? '' : `probably ${suggestion}`,
  ]);
  if (meaning.length > 0) parts.push(toTable([['Column of the file', 'Meaning', ''], ...meaning]));
  for (const { line, outcome, fields } of rows.slice(0, MAX_PREVIEW_ROWS)) {
    const shown = Object.entries(fields).map(([name, value]) => `${name}=${shorten(JSON.stringify(value))}`);
    parts.push(`Line ${line} (${outcome}): ${shown.join(' ')}\n`);
  }
  if (rows.length > MAX_PREVIEW_ROWS) parts.push(`… and ${rows.length - MAX_PREVIEW_ROWS} more rows\n`);
  parts.push(...formatOffers(preview), ...formatProblems(problems.slice(0, MAX_PREVIEW_PROBLEMS)));
  if (problems.length > MAX_PREVIEW_PROBLEMS)
    parts.push(`… and ${problems.length - MAX_PREVIEW_PROBLEMS} more problems\n`);
  if (problems.length === 0) parts.push('No problems found.\n');
  return parts.join('\n');
}

/** Formats the suggested settings of a profile for the file. */
function formatOffers(preview: ImportPreviewDto): string[] {
  const {
    encodings,
    skip_lines: first,
    skip_last_lines: last,
    templates,
    words,
    profile,
    suggested,
  } = preview;
  const list = (values: readonly string[]): string => values.map((value) => shorten(value)).join(', ');
  const offers = [
    ...encodings.map(({ encoding, cells }) => ['encoding', encoding, list(cells)]),
    ...(first === null ? [] : [['skip_lines', String(first), '']]),
    ...(last === null ? [] : [['skip_last_lines', String(last), '']]),
    ...(profile === null && suggested?.active_until ? [['active_until', suggested.active_until, '']] : []),
    ...templates.map(({ column, template, values, duplicates }) => {
      const repeated = duplicates > 0 ? ` (${duplicates} repeated)` : '';
      return [`set ${column}`, template, list(values) + repeated];
    }),
    ...words.flatMap(({ source, words: all }) =>
      all
        .filter(({ meaning }) => meaning === null || profile === null)
        .map((each) => [
          `values ${source}`,
          `${each.word} → ${each.meaning ?? each.suggestion ?? '?'}`,
          `${each.rows} rows`,
        ]),
    ),
  ];
  if (offers.length === 0) return [];
  return [
    'Suggestions for a profile (--suggest FILE writes them):\n',
    toTable(offers.map((row) => row.map((cell) => shorten(cell, MAX_TEXT)))),
  ];
}

/** Shortens a text, without control characters, which a terminal would interpret. */
function shorten(text: string, max = MAX_CELL): string {
  const clean = replaceHidden(text);
  return clean.length > max ? `${clean.slice(0, max - 1)}…` : clean;
}
