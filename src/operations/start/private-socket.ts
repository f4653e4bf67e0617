import type { INestApplication } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { once } from 'node:events';
import { lstatSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { type Duplex, duplexPair } from 'node:stream';
import { errorCode } from '../../platform/common/errors.js';
import { sha256 } from '../../platform/common/secrets.js';
import type { Env } from '../../platform/config/env.js';
import { databaseName, sqliteFile } from '../../platform/database/engine/connection-options.js';
import type { LeanAdapter } from '../../platform/http/lean.adapter.js';
import { Log } from '../../platform/telemetry/log.js';

/** Bytes of a path that every system takes for a socket. */
const MAX_PATH = 100;
const ALL_BUT_OWNER = 0o077;
/** Takes every right from a new socket but those of its owner to read and write. */
const OWNER_ONLY = 0o177;

const digest = (text: string): string => sha256(text).slice(0, 12);

/**
 * Where the service of this data folder and this database listens for commands. The database is part of the name, so that a
 * command with other settings never works on the database of the service.
 */
export function socketPath(env: Env): string {
  const folder = resolve(env.DATA_DIR);
  const file = sqliteFile(env);
  const database = file === undefined ? databaseName(env).full : relative(folder, resolve(file));
  const path = join(folder, `rollcall-${digest(database)}.sock`);
  if (Buffer.byteLength(path) <= MAX_PATH) return path;
  return join(tmpdir(), `rollcall-${digest(path)}`, 'rollcall.sock');
}

/** Returns what opens a connection to the running service of these settings, undefined where none listens. */
export async function findService(env: Env): Promise<(() => Duplex) | undefined> {
  const path = socketPath(env);
  return isTrusted(path, env) && (await isAnswered(path)) ? () => connect({ path }) : undefined;
}

/**
 * Serves the commands of this machine at a path that only the user of this process may open, unless another process does so.
 * The file is removed when the application closes. A service that cannot have one goes on without it, and logs why.
 */
export async function openServiceSocket(app: INestApplication, env: Env): Promise<void> {
  try {
    const path = socketPath(env);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    if (!isTrusted(path, env)) throw new Error(`${dirname(path)} belongs to another user.`);
    if (!(await isAnswered(path))) await listen(serverOf(app), path);
  } catch (error) {
    const reason = errorCode(error) ?? (error instanceof Error ? error.message : String(error));
    app.get(Log).warning('no socket for commands', { reason });
  }
}

/** Opens a connection of this process to its own application, as if by the socket. */
export function connectWithin(app: INestApplication): Duplex {
  const [client, server] = duplexPair();
  serverOf(app).emit('connection', server);
  return client;
}

const serverOf = (app: INestApplication): Server =>
  app.get<HttpAdapterHost<LeanAdapter>>(HttpAdapterHost).httpAdapter.localServer;

/** Listens at a path, in place of a file that a crash has left there. */
async function listen(server: Server, path: string): Promise<void> {
  const draft = join(dirname(path), `.${process.pid}.sock`);
  rmSync(draft, { force: true });
  const mask = process.umask(OWNER_ONLY);
  try {
    server.listen({ path: draft, exclusive: true }); // binds at once: a worker of a cluster would ask its primary
  } finally {
    process.umask(mask);
  }
  await once(server, 'listening');
  renameSync(draft, path); // no command meets a socket that does not answer yet
  const { ino } = statSync(path);
  server.once('close', () => {
    if (statSync(path, { throwIfNoEntry: false })?.ino === ino) rmSync(path, { force: true });
  });
}

/** Whether a process listens at a path. A file of a crashed process refuses the connection. */
async function isAnswered(path: string): Promise<boolean> {
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

/** Whether a socket in the temporary folder, where every user may create files, is in a folder of the service's own user. */
function isTrusted(path: string, { DATA_DIR }: Env): boolean {
  const folder = dirname(path);
  if (folder === resolve(DATA_DIR)) return true;
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  const owners = [process.getuid?.(), statSync(DATA_DIR, { throwIfNoEntry: false })?.uid];
  return stats?.isDirectory() === true && owners.includes(stats.uid) && (stats.mode & ALL_BUT_OWNER) === 0;
}
