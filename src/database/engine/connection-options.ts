import type { PoolOptions } from 'mysql2';
import { isIP } from 'node:net';
import { type Env, EnvError } from '../../config/env.js';
import { readPemFile } from '../../config/settings.js';

/** The settings that say where the database is. */
export type DatabaseSettings = Pick<Env, 'databaseUrl' | 'DATABASE_POOL_SIZE' | 'DATABASE_TLS_CA_FILE'>;

const SQLITE = 'sqlite:';

/** The file of a `sqlite:` URL; undefined for a server. */
export function sqliteFile({ databaseUrl }: DatabaseSettings): string | undefined {
  return databaseUrl.startsWith(SQLITE) ? databaseUrl.slice(SQLITE.length) : undefined;
}

/** The options of mysql2 for a server. @throws EnvError where TLS is asked for and cannot be had. */
export function mysqlOptions(settings: DatabaseSettings) {
  const { hostname, port, username, password, pathname } = new URL(settings.databaseUrl);
  return {
    host: hostname,
    port: port === '' ? 3306 : Number(port),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: decodeURIComponent(pathname.slice(1)),
    charset: 'utf8mb4',
    timezone: 'Z',
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: false,
    connectTimeout: 5000,
    connectionLimit: settings.DATABASE_POOL_SIZE,
    // A search has many forms; the server's statements are shared by all connections and all its users.
    maxPreparedStatements: 100,
    ...tls(hostname, settings),
  } satisfies PoolOptions;
}

/** Encrypted and to the right server, or not at all. @throws EnvError for an address: certificates are compared by name. */
function tls(hostname: string, { DATABASE_TLS_CA_FILE: file }: DatabaseSettings) {
  if (file === undefined) return {};
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) {
    throw new EnvError('DATABASE_TLS_CA_FILE needs a DATABASE_URL with the name that the certificate has.');
  }
  const ca = readPemFile('DATABASE_TLS_CA_FILE', file);
  return { ssl: { ca, minVersion: 'TLSv1.2', rejectUnauthorized: true, verifyIdentity: true } };
}
