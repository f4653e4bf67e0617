import type { ConnectionOptions } from 'mysql2';
import { isIP } from 'node:net';
import { basename, resolve } from 'node:path';
import { type DatabaseHost, type DatabaseUrl, readDatabaseUrl } from '../../config/database-url.js';
import { type Env, EnvError } from '../../config/env.js';
import { readPemFile } from '../../config/settings.js';

/** The settings that say where the database is. */
export type DatabaseSettings = Pick<Env, 'databaseUrl' | 'DATABASE_POOL_SIZE'> &
  Partial<Pick<Env, 'DATABASE_TLS_CA_FILE'>>;

/** A server of `DATABASE_URL`. */
export interface Server {
  /** `host:port`, for operators. */
  name: string;
  options: ReturnType<typeof optionsOf>;
}

const SQLITE = 'sqlite:';

/** The file of a `sqlite:` URL; undefined for a server. */
export function sqliteFile({ databaseUrl }: DatabaseSettings): string | undefined {
  return databaseUrl.startsWith(SQLITE) ? databaseUrl.slice(SQLITE.length) : undefined;
}

/**
 * The servers in the order of preference, each with the options that mysql2 takes.
 * @throws EnvError where TLS is asked for and cannot be had, and for a URL that is none.
 */
export function serversOf(settings: DatabaseSettings): [Server, ...Server[]] {
  const url = readDatabaseUrl(settings.databaseUrl);
  const servers = url?.hosts.map((host) => ({ name: nameOf(host), options: optionsOf(url, host, settings) }));
  const [first, ...others] = servers ?? [];
  if (!first) throw new EnvError('DATABASE_URL names no server.');
  return [first, ...others];
}

/** The database of the settings, by which an operator tells it from others. Without the password. */
export interface DatabaseName {
  /** The name of the file, or that of the database. */
  name: string;
  /** With its folder, or its servers. */
  full: string;
}

/** @throws EnvError for an invalid URL. */
export function databaseName(settings: DatabaseSettings): DatabaseName {
  const file = sqliteFile(settings);
  if (file !== undefined) return { name: basename(file), full: `SQLite ${resolve(file)}` };
  const servers = serversOf(settings);
  const name = servers[0].options.database;
  return { name, full: `${name} on ${servers.map((server) => server.name).join(', ')}` };
}

function optionsOf(
  { user, password, database }: DatabaseUrl,
  { host, port }: DatabaseHost,
  settings: DatabaseSettings,
) {
  return {
    host,
    port,
    user,
    password,
    database,
    charset: 'utf8mb4',
    timezone: 'Z',
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: false,
    connectTimeout: 5000,
    // A search has many forms; the server's statements are shared by all connections and all its users.
    maxPreparedStatements: 100,
    ...tls(host, settings),
  } satisfies ConnectionOptions;
}

const nameOf = ({ host, port }: DatabaseHost): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Encrypted and to the right server, or not at all. @throws EnvError for an address: certificates are compared by name. */
function tls(host: string, { DATABASE_TLS_CA_FILE: file }: DatabaseSettings) {
  if (file === undefined) return {};
  if (isIP(host) !== 0) {
    throw new EnvError('DATABASE_TLS_CA_FILE needs a DATABASE_URL with the name that each certificate has.');
  }
  const ca = readPemFile('DATABASE_TLS_CA_FILE', file);
  return { ssl: { ca, minVersion: 'TLSv1.2', rejectUnauthorized: true, verifyIdentity: true } };
}
