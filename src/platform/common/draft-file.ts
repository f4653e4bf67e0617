import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { errorCodeOf } from './errors.js';
import { sha256 } from './secrets.js';
import { SHUTDOWN_SIGNALS } from './signals.js';

/** A short id of this machine, because several machines may write to the same folder. */
const MACHINE = sha256(hostname()).slice(0, 6);
const NAME = /^\.rollcall-([\da-f]{6})-(\d+)(-[\da-f-]+)?\.part$/;
/** Age of a temporary file that no process of another machine writes any more. */
const ABANDONED_MILLIS = 3_600_000;
const STOPPED_CODE = 2;

/** Returns the name of a temporary file. @param id hexadecimal id, so that this process can write several files at once. */
export const toDraftName = (id?: string): string =>
  `.rollcall-${MACHINE}-${process.pid}${id === undefined ? '' : `-${id}`}.part`;

/**
 * Returns the path of a temporary file, for a process that writes one such file in a folder at a time. Deletes the
 * temporary files that killed processes left there.
 */
export function createDraftPath(folder: string): string {
  try {
    for (const name of readdirSync(folder)) if (isAbandoned(folder, name)) rmSync(join(folder, name));
  } catch {
    // The folder cannot be listed, or the file belongs to another user. Neither prevents the work of this process.
  }
  return join(folder, toDraftName());
}

function isAbandoned(folder: string, name: string): boolean {
  const [, machine, pid, id] = NAME.exec(name) ?? [];
  if (machine === undefined) return false;
  const isInUse = isOtherProcess(Number(pid)) || (Number(pid) === process.pid && id !== undefined);
  if (machine === MACHINE && !isInUse) return true;
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

/**
 * Writes a file. Renames a complete temporary file, so `path` never contains an incomplete file. Only the user of this
 * process can read the file. Writes directly to a device or a pipe.
 * @throws errors of `write` and of the file system.
 */
export async function writeCompleteFile(
  path: string,
  write: (file: FileHandle) => Promise<void>,
): Promise<void> {
  const existing = await stat(path).catch(() => undefined);
  if (existing && !existing.isFile()) {
    await using special = await open(path, 'w');
    await write(special);
    return;
  }
  const part = createDraftPath(dirname(path));
  const file = await open(part, 'wx', 0o600);
  const stop = (): void => {
    rmSync(part, { force: true });
    process.exit(STOPPED_CODE);
  };
  for (const signal of SHUTDOWN_SIGNALS) process.once(signal, stop);
  try {
    await write(file);
    await file.sync();
    await file.close();
    await rename(part, path);
    await syncFolder(dirname(path));
  } catch (error) {
    // Ignore errors from closing the file, because `error` is the cause.
    await file.close().catch(() => undefined);
    await rm(part, { force: true });
    throw error;
  } finally {
    for (const signal of SHUTDOWN_SIGNALS) process.off(signal, stop);
  }
}

/** Makes changes of the names in a folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  // Some file systems cannot sync folders.
  await handle.sync().catch(() => undefined);
  await handle.close();
}
