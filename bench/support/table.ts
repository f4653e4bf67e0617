import type { Absolute, Comparison, Floored, Measured, Results } from './results.js';

const whole = (value: number | undefined): string =>
  value === undefined ? '' : Math.round(value).toLocaleString('en');
const tenths = (value: number | undefined): string => (value === undefined ? '' : value.toFixed(1));
export const ENGINE_NAMES = { sqlite: 'SQLite', mariadb: 'MariaDB' } as const;

const HEAD = [
  'Case',
  'Engine',
  'Program',
  'Median (ms)',
  'p99 (ms)',
  'Per second',
  'Per CPU-second',
  'Ratio by CPU',
  'Ratio by time',
  'Goal',
  'Memory (MiB)',
  'Statements',
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
    floor?.ratio.cpu.toFixed(2) ?? '',
    floor?.ratio.plain.toFixed(2) ?? '',
    floor?.goal === undefined ? '' : `${floor.goal.toFixed(2)} ${mark(floor.ratio.cpu >= floor.goal)}`,
    floor ? '' : whole(measured.memory),
    tenths(measured.statements),
  ];
}

const mark = (reached: boolean): string => (reached ? 'reached' : 'missed');

function absoluteRow({ case: title, engine, value, unit, atMost }: Absolute): string[] {
  const digits = unit === 's' ? 2 : 0;
  return [
    title,
    ENGINE_NAMES[engine],
    `${value.toFixed(digits)} ${unit}`,
    `${atMost} ${unit}`,
    mark(value <= atMost),
  ];
}

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;
const table = (head: readonly string[], rows: readonly string[][]): string =>
  line(head) + line(head.map(() => '---')) + rows.map(line).join('');

/** The results in Markdown. */
export function tables({ comparisons, absolutes }: Pick<Results, 'comparisons' | 'absolutes'>): string {
  const rows = comparisons.flatMap((comparison) =>
    [comparison.service, ...comparison.floors].map((measured) => row(comparison, measured)),
  );
  const parts = [];
  if (rows.length > 0) parts.push(table(HEAD, rows));
  if (absolutes.length > 0)
    parts.push(table(['Limit', 'Engine', 'Measured', 'At most', ''], absolutes.map(absoluteRow)));
  return parts.join('\n');
}
