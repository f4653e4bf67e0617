import { basename, resolve } from 'node:path';
import {
  type DatabaseSettings,
  serversOf,
  sqliteFile,
} from '../platform/database/engine/connection-options.js';

/** The database of the settings, by which an operator tells it from others. Without the password. */
export interface DatabaseName {
  /** The name of the file, or that of the database. */
  name: string;
  /** With the place. */
  full: string;
}

/** @throws EnvError for a URL that is none. */
export function databaseName(settings: DatabaseSettings): DatabaseName {
  const file = sqliteFile(settings);
  if (file !== undefined) return { name: basename(file), full: `SQLite ${resolve(file)}` };
  const servers = serversOf(settings);
  const name = servers[0].options.database;
  return { name, full: `${name} on ${servers.map((server) => server.name).join(', ')}` };
}
