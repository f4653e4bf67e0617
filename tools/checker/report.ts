import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Checked } from './check.js';

/** Keeps the history of a run that broke promises. @returns the file. */
export function saveHistory({ broken, history }: Checked, name: string): string {
  const file = join(tmpdir(), `rollcall-checker-${name}.json`);
  const { entries, attempts } = history;
  writeFileSync(file, JSON.stringify({ broken, entries, attempts }));
  return file;
}
