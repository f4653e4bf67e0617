import libsql from 'libsql';
import { chmodSync, mkdirSync } from 'node:fs';
import { isIP } from 'node:net';
import { dirname } from 'node:path';
import type { DataSourceOptions } from 'typeorm';
import { type Env, EnvError } from '../config/env.js';
import { readPemFile } from '../config/settings.js';
import { MIGRATIONS } from './migrations/migrations.js';

type Settings = Pick<Env, 'databaseUrl' | 'DATABASE_POOL_SIZE' | 'DATABASE_TLS_CA_FILE'>;

/** The tables of the features: entity classes, named by the composition root, which alone knows every feature. */
export type Entities = readonly (new () => object)[];

/** What TypeORM needs to reach the database of `DATABASE_URL`; the same for the service and for its command line. */
export function dataSourceOptions(settings: Settings, entities: Entities): DataSourceOptions {
  const url = settings.databaseUrl;
  const engine = url.startsWith('sqlite:') ? sqlite(url.slice('sqlite:'.length)) : mysql(url, settings);
  return { ...engine, entities: [...entities] };
}

const shared = {
  migrations: MIGRATIONS,
  migrationsTableName: 'migrations',
  migrationsTransactionMode: 'each',
} as const;

function sqlite(file: string): DataSourceOptions {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  return {
    ...shared,
    type: 'better-sqlite3',
    driver: libsql,
    database: file,
    prepareDatabase: (connection: { exec: (sql: string) => void }) => {
      chmodSync(file, 0o600); // password hashes are nobody else's to read
      // FULL: what was acknowledged survives a loss of power.
      connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 5000;');
      // An import of many users touches most pages of a dozen indexes with each batch: 16 MiB of them are kept, and
      // those in the log are written back to the file once in 32 MiB, instead of once in four.
      connection.exec('PRAGMA cache_size = -16384; PRAGMA wal_autocheckpoint = 8192;');
    },
  };
}

function mysql(url: string, settings: Settings): DataSourceOptions {
  const { protocol, hostname, port, username, password, pathname } = new URL(url);
  return {
    ...shared,
    // The two differ only in how TypeORM's schema tools read the server's catalogue.
    type: protocol === 'mariadb:' ? 'mariadb' : 'mysql',
    host: hostname,
    port: port === '' ? 3306 : Number(port),
    username: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: decodeURIComponent(pathname.slice(1)),
    charset: 'utf8mb4',
    timezone: 'Z',
    dateStrings: true,
    bigNumberStrings: false,
    connectTimeout: 5000,
    poolSize: settings.DATABASE_POOL_SIZE,
    // A search has many forms; the server's statements are shared by all connections and all its users.
    extra: { maxPreparedStatements: 100 },
    ...tls(hostname, settings),
  };
}

/** Encrypted and to the right server, or not at all. @throws EnvError for an address: certificates are compared by name. */
function tls(hostname: string, { DATABASE_TLS_CA_FILE: file }: Settings) {
  if (file === undefined) return {};
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) {
    throw new EnvError('DATABASE_TLS_CA_FILE needs a DATABASE_URL with the name that the certificate has.');
  }
  const ca = readPemFile('DATABASE_TLS_CA_FILE', file);
  return { ssl: { ca, minVersion: 'TLSv1.2', rejectUnauthorized: true, verifyIdentity: true } };
}
