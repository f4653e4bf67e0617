import { Presets, SingleBar } from 'cli-progress';
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { AuditActorDto } from '../audit/audit.view.js';
import { writeCompleteFile } from '../platform/common/draft-file.js';
import { errorCodeOf, messageOf } from '../platform/common/errors.js';
import { replaceHidden } from '../platform/common/text.js';
import type { JsonObject } from '../platform/common/json.js';
import { ignoreOutputErrors } from '../platform/telemetry/log.js';
import type { Application } from './application.js';
import { useFile } from './named-file.js';
import type { Target } from './target.js';

/** Exit codes. `someFailed` also means that a check has found a fault. */
export const EXIT = { done: 0, someFailed: 1, nothingDone: 2 } as const;

/** Formats rows as aligned columns, without control characters, which a terminal would interpret. */
export function toTable(cells: readonly (readonly (string | number)[])[]): string {
  const rows = cells.map((row) => row.map((cell) => (typeof cell === 'number' ? cell : replaceHidden(cell))));
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries())
      widths[index] = Math.max(widths[index] ?? 0, String(cell).length);
  }
  const align = (cell: string | number, index: number): string =>
    typeof cell === 'number' ? String(cell).padStart(widths[index] ?? 0) : cell.padEnd(widths[index] ?? 0);
  return rows.map((row) => `${row.map(align).join('  ').trimEnd()}\n`).join('');
}

/** Prints a result to standard output: `value` as JSON with `--json`, otherwise `text`. */
export function print({ json }: { json?: true }, value: object, text: string): void {
  process.stdout.write(json ? formatJson(value) : text);
}

export const formatJson = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;

/**
 * Lets a command complete its work if its output cannot be written. Reports the error and sets the exit code, unless the
 * program that reads standard output, such as `head`, has closed the pipe.
 */
export function handleOutputErrors(): void {
  ignoreOutputErrors();
  process.stdout.once('error', (error) => {
    const code = errorCodeOf(error);
    if (code === undefined || code === 'EPIPE') return; // an error without a code comes from the source, and the command reports it
    process.stderr.write(`Standard output cannot be written (${code}). The command continues without it.\n`);
    process.once('exit', () => (process.exitCode ||= EXIT.nothingDone));
  });
}

/**
 * Requests a page of a list and prints it. If there is a next page, prints its option `--after` or `--offset` on standard
 * error.
 */
export function printPage(
  application: Application,
  flags: Target,
  path: string,
  query: JsonObject,
  formatRows: (rows: never[]) => string,
): Promise<void> {
  return application.runWithClient(flags, async (service) => {
    const { next, ...page } = await service.getPage<{ Count: number; Results: never[] }>(path, query);
    print(flags, page, formatRows(page.Results));
    const end = Number(query['offset']) + page.Results.length;
    const isCut = end < page.Count && page.Results.length > 0;
    const option = isCut ? `--offset ${end}` : next && `--after ${next}`;
    if (option) process.stderr.write(`${page.Count} in total. Next page: ${option}\n`);
  });
}

/**
 * Changes several records one after another. Reports each error on standard error, sets the exit code, and continues.
 * @returns the results of the changes without an error.
 * @throws Error of `change` if there is only one record.
 */
export async function changeEach<T>(
  names: readonly string[],
  change: (name: string) => Promise<T>,
): Promise<T[]> {
  if (names.length === 1) return [await change(names[0] ?? '')];
  const changed: T[] = [];
  for (const name of names)
    await change(name).then(
      (result) => changed.push(result),
      (error: unknown) => process.stderr.write(`${messageOf(error)}\n`),
    );
  if (changed.length < names.length)
    process.exitCode = changed.length > 0 ? EXIT.someFailed : EXIT.nothingDone;
  return changed;
}

export const formatMinute = (time: string): string => time.slice(0, 16).replace('T', ' ');

export const formatParty = ({ kind, id, name }: Pick<AuditActorDto, 'kind' | 'id'> & { name?: string }) =>
  id === null ? kind : `${kind} ${name || id}`;

/** Streams text to a file, or to standard output if `file` is undefined or `-`. */
export async function writeTextTo(text: AsyncIterable<string>, file = '-'): Promise<void> {
  if (file !== '-') {
    const write = async (handle: FileHandle): Promise<void> => {
      for await (const piece of text) await handle.writeFile(piece);
    };
    return useFile(file, () => writeCompleteFile(file, write));
  }
  await pipeline(Readable.from(text), process.stdout).catch((error: unknown) => {
    // Ignores the error if the program that reads the pipe, such as `head`, has closed it.
    if (errorCodeOf(error) !== 'EPIPE') throw error;
  });
}

/** Creates a progress bar on standard error. Returns undefined if standard error is not a terminal. */
export const createProgressBar = (format: string): SingleBar | undefined =>
  process.stderr.isTTY
    ? new SingleBar({ format, hideCursor: true, barsize: 30, stream: process.stderr }, Presets.shades_classic)
    : undefined;

/** Runs `work` and shows its progress on a terminal. @param total number of rows when the work is complete. */
export async function runWithProgress<T>(
  total: number,
  work: (show: (rows: number) => void) => Promise<T>,
): Promise<T> {
  const bar = createProgressBar('{bar} {percentage}% {value} of {total} rows');
  bar?.start(total, 0);
  try {
    return await work((rows) => bar?.update(rows));
  } finally {
    bar?.stop();
  }
}
