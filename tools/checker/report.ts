import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CheckerResult } from './check.js';

/** Writes the history of a run with broken promises to a file. @returns the path of the file. */
export function saveHistory({ broken, history }: CheckerResult, name: string): string {
  const file = join(tmpdir(), `rollcall-checker-${name}.json`);
  const { entries, attempts } = history;
  writeFileSync(file, JSON.stringify({ broken, entries, attempts }));
  return file;
}
