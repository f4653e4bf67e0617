import type { EngineName } from './engine.js';
import type { Absolute, Comparison, Floored, Measured, Results } from './results.js';

/** Formats a value. NaN means that the case does not measure it. */
const shown = (value: number | undefined, show: (value: number) => string): string =>
  value === undefined || Number.isNaN(value) ? '' : show(value);
const whole = (value: number | undefined): string =>
  shown(value, (number) => Math.round(number).toLocaleString('en'));
const tenths = (value: number | undefined): string => shown(value, (number) => number.toFixed(1));
const hundredths = (value: number | undefined): string => shown(value, (number) => number.toFixed(2));
export const ENGINE_NAMES = { sqlite: 'SQLite', mariadb: 'MariaDB' } as const;

const HEAD = [
  ...['Case', 'Engine', 'Program', 'Median (ms)', 'p99 (ms)', 'Per second', 'Per CPU-second', 'Ratio by CPU'],
  ...['Ratio by time', 'Goal', 'Memory (MiB)', 'Statements'],
];

function row(comparison: Comparison, measured: Measured | Floored): string[] {
  const floor = 'ratio' in measured ? measured : undefined;
  return [
    floor ? '' : comparison.case,
    floor ? '' : ENGINE_NAMES[comparison.engine],
    measured.name,
    tenths(measured.median),
    tenths(measured.p99),
    whole(measured.perSecond),
    whole(measured.perCpuSecond),
    hundredths(floor?.ratio.cpu),
    hundredths(floor?.ratio.plain),
    floor ? goalOf(floor) : '',
    floor ? '' : whole(measured.memory),
    tenths(measured.statements),
  ];
}

const goalOf = ({ goal, ratio }: Floored): string =>
  goal === undefined ? '' : `${goal.toFixed(2)} ${formatMark(ratio.cpu >= goal)}`;
const formatMark = (isReached: boolean): string => (isReached ? 'reached' : 'missed');

function absoluteRow({ case: title, engine, value, unit, atMost }: Absolute): string[] {
  const digits = { MiB: 0, ms: 1, s: 2 }[unit];
  return [
    title,
    ENGINE_NAMES[engine],
    `${value.toFixed(digits)} ${unit}`,
    `${atMost} ${unit}`,
    formatMark(value <= atMost),
  ];
}

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;
const table = (head: readonly string[], rows: readonly string[][]): string =>
  rows.length === 0 ? '' : line(head) + line(head.map(() => '---')) + rows.map(line).join('');

const limits = (absolutes: readonly Absolute[]): string =>
  table(['Limit', 'Engine', 'Measured', 'At most', ''], absolutes.map(absoluteRow));

/** Formats all results as Markdown tables. */
export function fullTables({ comparisons, absolutes }: Results): string {
  const rows = comparisons.flatMap((comparison) =>
    [comparison.service, ...comparison.floors].map((measured) => row(comparison, measured)),
  );
  return [table(HEAD, rows), limits(absolutes)].filter((part) => part !== '').join('\n');
}

/** Describes the commit, the machine and the effort of a run. */
export function captionOf({ date, commit, machine, effort }: Results): string {
  const { cpu, cores, memory, node, engines } = machine;
  const versions = Object.entries(engines).map(
    ([name, version]) => `${ENGINE_NAMES[name as EngineName]} ${version}`,
  );
  return (
    `Measured on ${date} at commit ${commit}: ${cpu}, ${cores} cores, ${memory} GiB, Node ${node}, ${versions.join(', ')}; ` +
    `${effort.users.toLocaleString('en')} users, ${effort.rounds} rounds of ${effort.seconds} s.`
  );
}
