import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Env } from '../../platform/config/env.js';
import { sqliteFile } from '../../platform/database/engine/connection-options.js';
import { type Finding, codeOf, fail, ok, warn } from './finding.js';

/** What `doctor --security` finds in the rights of files and folders. */

const GROUP_AND_OTHERS = 0o077;
const WRITE_OF_OTHERS = 0o022;
const EVERYBODY_MAY_WRITE = 0o002;

/** The files that hold secrets or people: nobody but their owner may read or change them. */
export async function fileChecks(env: Env): Promise<Finding[]> {
  const database = sqliteFile(env);
  const files = [
    ['data folder', env.DATA_DIR, '700'],
    ...(database === undefined
      ? []
      : ['', '-wal', '-shm'].map((end) => ['database file', database + end, '600'])),
    ['.env', '.env', '600'],
    ...(env.TLS_KEY_FILE === undefined ? [] : [['tls key', env.TLS_KEY_FILE, '600']]),
  ] as const;
  const findings = await Promise.all(
    files.map(([subject = '', path = '', mode = '']) => privacy(subject, path, mode)),
  );
  return findings.flat();
}

async function privacy(subject: string, path: string, mode: string): Promise<Finding[]> {
  if (!existsSync(path)) return [];
  const { mode: rights } = await stat(path);
  const others = rights & GROUP_AND_OTHERS;
  return others === 0
    ? ok(subject, `${path} is open to its owner only`)
    : fail(subject, `${path} has the rights ${octal(rights)}, others may open it: chmod ${mode} ${path}`);
}

/** Who may put files into the drop folder, and touch those that are being imported. */
export async function dropFolderCheck({ IMPORT_FOLDER, IMPORT_WORK_FOLDER }: Env): Promise<Finding[]> {
  if (IMPORT_FOLDER === undefined) return ok('drop folder', 'none');
  try {
    const { mode } = await stat(IMPORT_FOLDER);
    if ((mode & EVERYBODY_MAY_WRITE) !== 0)
      return fail(
        'drop folder',
        `everybody on this machine may write to ${IMPORT_FOLDER}: chmod o-w ${IMPORT_FOLDER}`,
      );
    if (IMPORT_WORK_FOLDER === undefined || resolve(IMPORT_WORK_FOLDER) === resolve(IMPORT_FOLDER)) {
      return (mode & WRITE_OF_OTHERS) === 0
        ? ok('drop folder', 'only its owner writes to it')
        : warn('drop folder', 'its group may change files that are being imported; set IMPORT_WORK_FOLDER');
    }
    const work = existsSync(IMPORT_WORK_FOLDER) ? (await stat(IMPORT_WORK_FOLDER)).mode : 0;
    return (work & WRITE_OF_OTHERS) === 0
      ? ok('drop folder', 'files that are being imported are out of the reach of others')
      : fail('drop folder', `others may write to ${IMPORT_WORK_FOLDER}: chmod go-w ${IMPORT_WORK_FOLDER}`);
  } catch (error) {
    return fail('drop folder', `cannot be looked at (${codeOf(error)})`);
  }
}

const octal = (mode: number): string => (mode & 0o777).toString(8).padStart(3, '0');
