import type { ConnectionOptions } from 'mysql2';
import { isIP } from 'node:net';
import { basename, resolve } from 'node:path';
import { type DatabaseHost, type DatabaseUrl, parseDatabaseUrl } from '../../config/database-url.js';
import { type Env, EnvError } from '../../config/env.js';
import { readPemFile } from '../../config/settings.js';

export type DatabaseSettings = Pick<Env, 'databaseUrl' | 'DATABASE_POOL_SIZE'> &
  Partial<Pick<Env, 'DATABASE_TLS_CA_FILE'>>;

/** A database server from `DATABASE_URL`. */
export interface Server {
  /** `host:port`, as shown to operators. */
  name: string;
  options: ReturnType<typeof connectionOptionsOf>;
}

const SQLITE = 'sqlite:';

/** Returns the file of a `sqlite:` URL, or undefined for a database server. */
export function sqliteFileOf({ databaseUrl }: DatabaseSettings): string | undefined {
  return databaseUrl.startsWith(SQLITE) ? databaseUrl.slice(SQLITE.length) : undefined;
}

/**
 * Returns the servers in order of preference, each with its options for mysql2.
 * @throws EnvError for an invalid URL, or for a TLS setting that cannot be applied.
 */
export function serversOf(settings: DatabaseSettings): [Server, ...Server[]] {
  const url = parseDatabaseUrl(settings.databaseUrl);
  const servers = url?.hosts.map((host) => ({
    name: nameOf(host),
    options: connectionOptionsOf(url, host, settings),
  }));
  const [first, ...others] = servers ?? [];
  if (!first) throw new EnvError('DATABASE_URL names no database server. Add a host to it.');
  return [first, ...others];
}

/**
 * Returns the short and the full name of a database for operators. The names contain no password.
 * @throws EnvError for an invalid URL.
 */
export function databaseNameOf(settings: DatabaseSettings) {
  const file = sqliteFileOf(settings);
  if (file !== undefined) return { name: basename(file), fullName: `SQLite ${resolve(file)}` };
  const servers = serversOf(settings);
  const name = servers[0].options.database;
  return { name, fullName: `${name} on ${servers.map((server) => server.name).join(', ')}` };
}

function connectionOptionsOf(url: DatabaseUrl, { host, port }: DatabaseHost, settings: DatabaseSettings) {
  const { user, password, database } = url;
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
    // Searches use many different statements, and the server limits the total number of prepared statements over all
    // connections.
    maxPreparedStatements: 100,
    ...buildTlsOptions(host, settings),
  } satisfies ConnectionOptions;
}

const nameOf = ({ host, port }: DatabaseHost): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;

/**
 * Returns the TLS options of a connection.
 * @throws EnvError if the host is an IP address, or if the CA file cannot be read.
 */
function buildTlsOptions(host: string, { DATABASE_TLS_CA_FILE: file }: DatabaseSettings) {
  if (file === undefined) return {};
  if (isIP(host) !== 0) {
    const remedy = 'For each server, use the host name in its certificate.';
    throw new EnvError(`DATABASE_TLS_CA_FILE needs host names in DATABASE_URL, not IP addresses. ${remedy}`);
  }
  const ca = readPemFile('DATABASE_TLS_CA_FILE', file);
  return { ssl: { ca, minVersion: 'TLSv1.2', rejectUnauthorized: true, verifyIdentity: true } };
}
