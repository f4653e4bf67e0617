import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { errorCodeOf } from './errors.js';
import { sha256 } from './secrets.js';

/** A short id of this machine, because several machines may write to the same folder. */
const MACHINE = sha256(hostname()).slice(0, 6);
const NAME = /^\.rollcall-([\da-f]{6})-(\d+)\.part$/;
/** Age of a temporary file that no process of another machine writes any more. */
const ABANDONED_MILLIS = 3_600_000;

/**
 * Returns the path for the only temporary file of this process in a folder. Deletes the temporary files that killed
 * processes left there.
 */
export function createDraftPath(folder: string): string {
  try {
    for (const name of readdirSync(folder)) if (isAbandoned(folder, name)) rmSync(join(folder, name));
  } catch {
    // The folder cannot be listed, or the file belongs to another user. Neither prevents the work of this process.
  }
  return join(folder, `.rollcall-${MACHINE}-${process.pid}.part`);
}

function isAbandoned(folder: string, name: string): boolean {
  const [, machine, pid] = NAME.exec(name) ?? [];
  if (machine === undefined) return false;
  if (machine === MACHINE && !isOtherProcess(Number(pid))) return true;
  return Date.now() - lstatSync(join(folder, name)).mtimeMs > ABANDONED_MILLIS;
}

function isOtherProcess(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errorCodeOf(error) !== 'ESRCH';
  }
}
