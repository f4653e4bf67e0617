import { afterEach, beforeEach } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
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
