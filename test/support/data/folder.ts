import { afterEach, beforeEach } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { link, mkdir, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Returns the path of a folder that is empty at the start of each test, and is deleted after the test. */
export function setUpFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-unit-'));
  beforeEach(() => void mkdirSync(folder, { recursive: true }));
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });
  return folder;
}

type Create = (path: string, other: string) => unknown;
/** Entries of a folder that no schedule reads: the reason, and a function that creates the entry. */
export const ODD_ENTRIES: readonly (readonly [reason: string, create: Create])[] = [
  ['a symbolic link', (path, other) => symlink(other, path)],
  ['a folder', (path) => mkdir(path)],
  ['a pipe', (path) => execFileSync('mkfifo', [path])],
  ['a file with several names (hard links)', (path, other) => link(other, path)],
];
