import { existsSync } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { BackupError } from '../operations/backup/backup-format.js';
import { errorCodeOf } from '../platform/common/errors.js';

/** Texts that follow the path of a file, by the code of the error. */
const FAULTS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist. Check the path',
  ENOTDIR: 'cannot exist, because a part of the path is a file. Check the path',
  EISDIR: 'is a folder. Pass the path of a file',
  EACCES: 'cannot be accessed. Check the permissions of the file and its folders',
  EROFS: 'cannot be written, because the file system is read-only. Pass another path',
  ENOSPC: 'cannot be written, because the disk is full. Free some space, or pass another path',
};

/**
 * Runs `work`, which uses the file at `path`.
 * @throws Error with the path as typed instead of a BackupError or an error of the file system.
 */
export const useFile = <T>(path: string, work: () => Promise<T>): Promise<T> =>
  work().catch((error: unknown) => {
    const code = errorCodeOf(error) ?? '';
    const fault = error instanceof BackupError ? error.message : FAULTS[code];
    if (fault === undefined) throw error;
    const subject = code === 'ENOENT' && !existsSync(dirname(path)) ? `The folder ${dirname(path)}` : path;
    throw new Error(`${subject} ${fault}.`, { cause: error });
  });

/** Checks a file without opening it, because a pipe can be opened only once. @throws Error if it cannot be read. */
export const assertReadable = (path: string): Promise<void> =>
  useFile(path, async () => {
    await access(path, constants.R_OK);
    if ((await stat(path)).isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' });
  });
