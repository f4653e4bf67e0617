import type { ImportRowDto, ImportRunDto } from '../import/imports.dto.js';
import { summary } from './import-output.js';
import { table } from './table.js';

const MAX_TEXT = 120;

/** Runs as a table. */
export function runsTable(runs: readonly ImportRunDto[]): string {
  const head = ['ID', 'STATE', 'CREATED (UTC)', 'DATA SET', 'ROWS', 'CHANGED', 'FAILED', 'FILE'];
  return table([
    head,
    ...runs.map((run) => {
      const { created, updated, blocked, reactivated, error } = run.counts;
      const changed = created + updated + blocked + reactivated + run.missing.blocked;
      const rows = run.progress.rows_total ?? '-';
      const notes = [...(run.dry_run ? ['dry run'] : []), ...(run.reverted_by === null ? [] : ['reverted'])];
      const state = notes.length > 0 ? `${run.state} (${notes.join(', ')})` : run.state;
      const dataset = run.options.dataset;
      return [run.id, state, minute(run.created), dataset, rows, changed, error, fileOf(run)];
    }),
  ]);
}

/** All that is known of a run. */
export function runText(run: ImportRunDto): string {
  const { file, options, profile, actor, approved_by: approver, created, finished, progress } = run;
  const { reverted_by: revert } = run;
  const facts = [
    ['File', `${fileOf(run)}, ${file.size} bytes`],
    ['Data set', `${options.dataset}${options.part === undefined ? '' : `, part ${options.part}`}`],
    ...(profile === null ? [] : [['Profile', profile]]),
    ['Sent', `${minute(created)} UTC by ${partyOf(actor)}`],
    ...(approver === null ? [] : [['Approved', `by ${partyOf(approver)}`]]),
    finished === null
      ? ['Progress', `${progress.percent}%, ${progress.rows_done} of ${progress.rows_total ?? '?'} rows`]
      : ['Finished', `${minute(finished)} UTC`],
    ...(revert === null ? [] : [['Reverted', `by ${revert}`]]),
  ];
  return `${summary(run)}\n${table(facts)}`;
}

/** Rows as a table: what changes, and what is wrong. */
export function rowsTable(rows: readonly ImportRowDto[]): string {
  const cells = rows.map(({ line, outcome, external_id: externalId, name, errors, changes }) => {
    const changed = changes.map(({ field, old, new: value }) => `${field}: ${shown(old)} → ${shown(value)}`);
    const wrong = errors.map(({ field, code, message }) => `${code}: ${field} ${message}`);
    return [line ?? '', outcome, externalId, name, [...wrong, ...changed].join('; ')];
  });
  return table([['Line', 'Outcome', 'ExternalId', 'Name', 'What'], ...cells]);
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? '');
  const cut = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT - 1)}…` : text;
  return cut === '' ? '""' : cut;
}

const minute = (time: string): string => time.slice(0, 16).replace('T', ' ');
const partyOf = ({ kind, id }: { kind: string; id: string | null }): string =>
  id === null ? kind : `${kind} ${id}`;
const fileOf = ({ reverts, file }: ImportRunDto): string =>
  reverts === null ? file.name : `revert of ${reverts}`;
