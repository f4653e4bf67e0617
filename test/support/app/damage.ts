import { closeSync, openSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { type TestDatabase, runAsAdministrator } from './database.js';

/** Damages a table of a database that no service uses, so that every statement on this table fails. */
export async function damageTable({ url }: TestDatabase, table: string): Promise<void> {
  if (!url.startsWith('sqlite:'))
    return runAsAdministrator(`ALTER TABLE ${new URL(url).pathname.slice(1)}.${table} DISCARD TABLESPACE`);
  const path = url.slice('sqlite:'.length);
  const reader = new DatabaseSync(path);
  const root = reader.prepare('SELECT rootpage AS page FROM sqlite_master WHERE name = ?').get(table);
  const { page_size: size } = reader.prepare('PRAGMA page_size').get() as { page_size: number };
  reader.close();
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(size, 0xaa), 0, size, (Number(root?.['page']) - 1) * size);
  closeSync(file);
}
