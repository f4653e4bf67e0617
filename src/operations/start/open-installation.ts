import { existsSync } from 'node:fs';
import { messageOf } from '../../platform/common/errors.js';
import type { Env } from '../../platform/config/env.js';
import { sqliteFileOf } from '../../platform/database/engine/connection-options.js';
import { DatabaseError } from '../../platform/database/engine/database-error.js';
import { type Database, openDatabase } from '../../platform/database/engine/database.js';
import { readInstallation } from '../../platform/database/installation/installation.service.js';
import { DatabaseFiles } from '../../platform/database/sqlite/database-files.js';
import { InstallationError } from '../../platform/database/sqlite/installation-file.js';
import { WriteLock } from '../../platform/database/sqlite/write-lock.js';
import { startNewEpoch } from '../backup/start-new-epoch.js';

/**
 * Claims a SQLite file for this process and compares it with the installation file. After a crash, checkpoints the log.
 * @param purpose `read` claims the file only if it exists and is free. `restore` accepts a missing file.
 * @returns undefined for a database server, or if the file is not claimed.
 * @throws InstallationError if the file is in use, missing or empty.
 */
export async function claimDatabase(
  env: Env,
  purpose: 'start' | 'read' | 'restore',
): Promise<DatabaseFiles | undefined> {
  const file = sqliteFileOf(env);
  if (file === undefined || (purpose === 'read' && !existsSync(file))) return undefined;
  const files = DatabaseFiles.claim(file);
  if (!files && purpose === 'read') return undefined;
  if (!files)
    throw new InstallationError(`Another service or command uses the database ${file}. Stop it and retry.`);
  try {
    const { installation } = files;
    const isReplaced = purpose === 'restore' && installation.isDatabaseMissing;
    if (isReplaced) installation.setLogAside();
    else files.loss = installation.findLoss();
    if (!isReplaced && files.loss === undefined) await checkpointLog(env, files);
    return files;
  } catch (error) {
    files.release();
    throw error;
  }
}

/**
 * Claims and migrates the database for an application. If changes were lost, starts a new epoch.
 * @returns the write lock of the application.
 * @throws InstallationError if a SQLite file is in use, missing, empty or damaged, or belongs to another installation.
 */
export async function openInstallation(env: Env, migrate: () => Promise<unknown>): Promise<WriteLock> {
  const files = await claimDatabase(env, 'start').catch(throwWithRemedy);
  try {
    await migrate();
    if (files) await recordInstallation(env, files, true);
    return new WriteLock(undefined, files);
  } catch (error) {
    files?.release();
    return throwWithRemedy(error);
  }
}

/** Throws the error, with a remedy if the database is damaged, or if its files were changed during the start. */
function throwWithRemedy(error: unknown): never {
  if (error instanceof DatabaseError && error.fault === 'replaced')
    throw new InstallationError(`${messageOf(error.cause)} Start the service again.`);
  const message = messageOf(error);
  if (!/malformed|is not a database/.test(message)) throw error;
  const remedy =
    'Move the database file and its -wal file away, and restore a backup with "rollcall restore"';
  throw new InstallationError(`The database is damaged (${message}). ${remedy}.`);
}

/** Checkpoints the log of a known installation. This gives the file a version that earlier copies do not have. */
async function checkpointLog(env: Env, files: DatabaseFiles): Promise<void> {
  if (!files.installation.read()) return;
  const database = await openDatabase(env, { lock: new WriteLock(undefined, files) });
  await database.close();
}

/**
 * Records the id and the epoch of a migrated database in the installation file.
 * @param isSame true if the id must be the recorded id. Lost changes then raise the epoch.
 * @throws InstallationError if the id must be the recorded id, but differs.
 */
export async function recordInstallation(env: Env, files: DatabaseFiles, isSame = false): Promise<void> {
  const sql = await openDatabase(env);
  let installation;
  try {
    const { id, epoch } = await readInstallation(sql);
    if (isSame) files.installation.assertKnown(id);
    installation = { id, epoch: isSame && files.loss !== undefined ? await raiseEpoch(sql, files) : epoch };
  } finally {
    await sql.close();
  }
  // A known file keeps its recorded version, which shows if the file was replaced since the start began.
  const isKnown = isSame && files.loss === undefined && files.installation.read() !== undefined;
  if (!isKnown) files.installation.recordClosed(installation);
  await checkpointLog(env, files);
}

async function raiseEpoch(sql: Database, { installation, loss = '' }: DatabaseFiles): Promise<number> {
  const tx = await sql.begin();
  try {
    const changes = [{ field: 'loss', new: loss }];
    const epoch = await startNewEpoch(tx, installation.read()?.epoch ?? 0, { changes });
    await tx.commit();
    return epoch;
  } finally {
    await tx.rollback();
  }
}
