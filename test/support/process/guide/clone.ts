import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../process.js';

/** Entries that a clone lacks: output of runs and builds, and files of one machine. */
const NOT_CLONED = /^(\.git|\.env|data|artifacts|coverage)$/;
/** Folders in which the reader of a guide writes. */
const COPIED = new Set(['deploy']);

/** Fills a folder so that it looks like an installed and built clone of the project. */
export function createClone(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(ROOT).filter((name) => !NOT_CLONED.test(name))) {
    if (COPIED.has(name)) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    else symlinkSync(join(ROOT, name), join(folder, name));
  }
}

/**
 * Returns the environment of a terminal. Commands in test/support/process/guide/bin take precedence over commands of
 * the machine.
 */
export function createEnvironment(path: string, home: string, control: string): Record<string, string> {
  writeFileSync(join(home, '.curlrc'), 'silent\nshow-error\n');
  return {
    PATH: `${join(ROOT, 'test/support/process/guide/bin')}:${path}`,
    HOME: home,
    GUIDE_CONTROL: control,
    GUIDE_PROJECT: ROOT.replace(/\/$/, ''),
  };
}

/** API key that the documents show. */
export const README_KEY = 'rollcall_5f0c2d9a7b31_3mZQkqS8Yt5nW2vHc7LpXr9DfGj4BsVuEa6NwKxToRi_9c41f27d';

/** Writes the command `rollcall` of the built program to a folder. @returns a PATH that includes the folder. */
export function addCommand(folder: string): string {
  const path = join(folder, 'rollcall');
  writeFileSync(path, `#!/bin/sh\nexec "${process.execPath}" "${ROOT}dist/cli.js" "$@"\n`, { mode: 0o755 });
  return `${folder}:${process.env['PATH'] ?? ''}`;
}
