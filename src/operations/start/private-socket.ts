import type { INestApplication } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { once } from 'node:events';
import { lstatSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { type Duplex, duplexPair } from 'node:stream';
import { createDraftPath } from '../../platform/common/draft-file.js';
import { errorCodeOf, messageOf } from '../../platform/common/errors.js';
import { sha256 } from '../../platform/common/secrets.js';
import type { Env } from '../../platform/config/env.js';
import { databaseNameOf, sqliteFileOf } from '../../platform/database/engine/connection-options.js';
import type { FastExpressAdapter } from '../../platform/http/express.adapter.js';
import { Log } from '../../platform/telemetry/log.js';

/** Maximum length of a socket path, in bytes. All supported systems accept paths of this length. */
const MAX_PATH_BYTES = 100;
const ALL_BUT_OWNER = 0o077;
/** Umask that leaves only the owner the rights to read and write a new socket. */
const OWNER_ONLY = 0o177;

const shortHashOf = (text: string): string => sha256(text).slice(0, 12);

/**
 * Returns the path of the private socket for this data folder and database. The name contains a hash of the database,
 * so that a command with another database never reaches this service.
 */
export function getSocketPath(env: Env): string {
  const folder = resolve(env.DATA_DIR);
  const file = sqliteFileOf(env);
  const database = file === undefined ? databaseNameOf(env).fullName : relative(folder, resolve(file));
  const path = join(folder, `rollcall-${shortHashOf(database)}.sock`);
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES) return path;
  return join(tmpdir(), `rollcall-${shortHashOf(path)}`, 'rollcall.sock');
}

/**
 * Returns a function that connects to the private socket of the service with these settings. Returns undefined if no
 * such service is running.
 */
export async function findConnector(env: Env): Promise<(() => Duplex) | undefined> {
  const path = getSocketPath(env);
  return isTrusted(path, env) && (await isListening(path)) ? () => connect({ path }) : undefined;
}

/**
 * Opens the private socket, unless another process already serves it. Only the user of this process can access the
 * socket, whose file is removed when the application closes. If the socket cannot be opened, logs the reason and
 * continues.
 */
export async function openServiceSocket(app: INestApplication, env: Env): Promise<void> {
  try {
    const path = getSocketPath(env);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    if (!isTrusted(path, env)) throw new Error(`${dirname(path)} belongs to another user.`);
    if (!(await isListening(path))) await listen(serverOf(app), path);
  } catch (error) {
    app.get(Log).warn('private socket unavailable', { reason: errorCodeOf(error) ?? messageOf(error) });
  }
}

/** Connects this process to its own application, as a command connects through the private socket. */
export function connectInternally(app: INestApplication): Duplex {
  const [client, server] = duplexPair();
  serverOf(app).emit('connection', server);
  return client;
}

const serverOf = (app: INestApplication): Server =>
  app.get<HttpAdapterHost<FastExpressAdapter>>(HttpAdapterHost).httpAdapter.localServer;

/** Lets the server listen on a socket at a path. Replaces the socket file of a crashed process. */
async function listen(server: Server, path: string): Promise<void> {
  const draft = createDraftPath(dirname(path));
  rmSync(draft, { force: true });
  const mask = process.umask(OWNER_ONLY);
  try {
    // With `exclusive`, this process opens the socket itself. Otherwise, the primary would open it.
    server.listen({ path: draft, exclusive: true });
  } finally {
    process.umask(mask);
  }
  await once(server, 'listening');
  // Rename the socket last, so that commands never see a socket that does not answer yet.
  renameSync(draft, path);
  const { ino } = statSync(path);
  server.once('close', () => {
    if (statSync(path, { throwIfNoEntry: false })?.ino === ino) rmSync(path, { force: true });
  });
}

/** Returns true if a process listens at a path. The socket file of a crashed process rejects connections. */
async function isListening(path: string): Promise<boolean> {
  const socket = connect({ path });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/**
 * Returns true if other users cannot create a socket at this path. The path must be in the data folder, or in a folder
 * that only the user of the service can access.
 */
function isTrusted(path: string, { DATA_DIR }: Env): boolean {
  const folder = dirname(path);
  if (folder === resolve(DATA_DIR)) return true;
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  const owners = [process.getuid?.(), statSync(DATA_DIR, { throwIfNoEntry: false })?.uid];
  return stats?.isDirectory() === true && owners.includes(stats.uid) && (stats.mode & ALL_BUT_OWNER) === 0;
}
