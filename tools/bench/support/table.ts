import type { EngineName } from './engine.js';
import type { Absolute, Comparison, BaselineResult, Measured, Results } from './results.js';

/** Formats a value. NaN means that the case does not measure it. */
const format = (value: number | undefined, show: (value: number) => string): string =>
  value === undefined || Number.isNaN(value) ? '' : show(value);
const toInteger = (value: number | undefined): string =>
  format(value, (number) => Math.round(number).toLocaleString('en'));
const toTenths = (value: number | undefined): string => format(value, (number) => number.toFixed(1));
const toHundredths = (value: number | undefined): string => format(value, (number) => number.toFixed(2));
export const ENGINE_NAMES = { sqlite: 'SQLite', mariadb: 'MariaDB' } as const;

const HEAD = [
  ...['Case', 'Engine', 'Program', 'Median (ms)', 'p99 (ms)', 'Per second', 'Per CPU-second', 'Ratio by CPU'],
  ...['Ratio by time', 'Goal', 'Memory (MiB)', 'Statements'],
];

function toRow(comparison: Comparison, measured: Measured | BaselineResult): string[] {
  const baseline = 'ratio' in measured ? measured : undefined;
  return [
    baseline ? '' : comparison.case,
    baseline ? '' : ENGINE_NAMES[comparison.engine],
    measured.name,
    toTenths(measured.median),
    toTenths(measured.p99),
    toInteger(measured.perSecond),
    toInteger(measured.perCpuSecond),
    toHundredths(baseline?.ratio.cpu),
    toHundredths(baseline?.ratio.plain),
    baseline ? formatGoal(baseline) : '',
    baseline ? '' : toInteger(measured.memory),
    toTenths(measured.statements),
  ];
}

const formatGoal = ({ goal, ratio }: BaselineResult): string =>
  goal === undefined ? '' : `${goal.toFixed(2)} ${formatMark(ratio.cpu >= goal)}`;
const formatMark = (isReached: boolean): string => (isReached ? 'reached' : 'missed');

function toLimitRow({ case: title, engine, value, unit, atMost }: Absolute): string[] {
  const digits = { MiB: 0, ms: 1, s: 2 }[unit];
  return [
    title,
    ENGINE_NAMES[engine],
    `${value.toFixed(digits)} ${unit}`,
    `${atMost} ${unit}`,
    formatMark(value <= atMost),
  ];
}

const formatLine = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;
const formatTable = (head: readonly string[], rows: readonly string[][]): string =>
  rows.length === 0
    ? ''
    : formatLine(head) + formatLine(head.map(() => '---')) + rows.map(formatLine).join('');

const formatLimits = (absolutes: readonly Absolute[]): string =>
  formatTable(['Limit', 'Engine', 'Measured', 'At most', ''], absolutes.map(toLimitRow));

/** Formats all results as Markdown tables. */
export function formatTables({ comparisons, absolutes }: Results): string {
  const rows = comparisons.flatMap((comparison) =>
    [comparison.service, ...comparison.baselines].map((measured) => toRow(comparison, measured)),
  );
  return [formatTable(HEAD, rows), formatLimits(absolutes)].filter((part) => part !== '').join('\n');
}

/** Describes the commit, the machine and the effort of a run. */
export function formatCaption({ date, commit, machine, effort }: Results): string {
  const { cpu, cores, memory, node, engines } = machine;
  const versions = Object.entries(engines).map(
    ([name, version]) => `${ENGINE_NAMES[name as EngineName]} ${version}`,
  );
  return (
    `Measured on ${date} at commit ${commit}: ${cpu}, ${cores} cores, ${memory} GiB, Node ${node}, ${versions.join(', ')}; ` +
    `${effort.users.toLocaleString('en')} users, ${effort.rounds} rounds of ${effort.seconds} s.`
  );
}
