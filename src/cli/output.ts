import { Presets, SingleBar } from 'cli-progress';
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { errorCode } from '../platform/common/errors.js';

/** Personal data: only the owner of the file reads it. */
const OWNER_ONLY = 0o600;

/** Aligns rows as columns of text; numbers are right-aligned. Control characters, which a terminal would act on, are replaced. */
export function table(cells: readonly (readonly (string | number)[])[]): string {
  const rows = cells.map((row) =>
    row.map((cell) => (typeof cell === 'number' ? cell : cell.replace(/\p{Cc}/gu, '\ufffd'))),
  );
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries())
      widths[index] = Math.max(widths[index] ?? 0, String(cell).length);
  }
  const align = (cell: string | number, index: number): string =>
    typeof cell === 'number' ? String(cell).padStart(widths[index] ?? 0) : cell.padEnd(widths[index] ?? 0);
  return rows.map((row) => `${row.map(align).join('  ').trimEnd()}\n`).join('');
}

/** Prints a result: with `--json` for programs, otherwise as text. */
export function print({ json }: { json?: true }, value: object, text: string): void {
  process.stdout.write(json ? `${JSON.stringify(value, null, 2)}\n` : text);
}

/** Says on standard error that a list has more, and which option shows it. */
export function printMore(count: number, option: string): void {
  process.stderr.write(`There are ${count}: ${option}\n`);
}

/** As `printMore`, for a page of a list with an offset. */
export function printNextOffset(
  { Count, Results }: { Count: number; Results: unknown[] },
  offset: unknown,
): void {
  const next = Number(offset) + Results.length;
  if (next < Count && Results.length > 0) printMore(Count, `--offset ${next}`);
}

/** Returns a time of the interface to the minute. */
export const minute = (time: string): string => time.slice(0, 16).replace('T', ' ');

/** Returns who acted, as text. */
export const partyOf = ({ kind, id }: { kind: string; id: string | null }): string =>
  id === null ? kind : `${kind} ${id}`;

/** Writes text as it comes, to standard output or to a file. A file that exists keeps its rights. */
export async function writeOut(text: AsyncIterable<string>, file: string | undefined): Promise<void> {
  const target = file === undefined ? process.stdout : createWriteStream(file, { mode: OWNER_ONLY });
  await pipeline(Readable.from(text), target).catch((error: unknown) => {
    // The reader, such as `head`, has closed the pipe.
    if (errorCode(error) !== 'EPIPE') throw error;
  });
}

/** Creates a bar on standard error, undefined where that is no terminal. */
export const createBar = (format: string): SingleBar | undefined =>
  process.stderr.isTTY
    ? new SingleBar({ format, hideCursor: true, barsize: 30, stream: process.stderr }, Presets.shades_classic)
    : undefined;

/** Runs `work`, and shows on a terminal how many of a number of rows are done. */
export async function withProgress<T>(
  total: number,
  work: (show: (rows: number) => void) => Promise<T>,
): Promise<T> {
  const bar = createBar('{bar} {percentage}% {value} of {total} rows');
  bar?.start(total, 0);
  try {
    return await work((rows) => bar?.update(rows));
  } finally {
    bar?.stop();
  }
}
