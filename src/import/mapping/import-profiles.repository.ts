import { Inject, Injectable } from '@nestjs/common';
import { fromJson, toJson } from '../../platform/common/json.js';
import { now } from '../../platform/common/time.js';
import { type Sql, countRows, lockClauseOf, insertRows } from '../../platform/database/engine/sql.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import type { ImportProfile } from '../runs/import-profile.js';
import { ImportProfileEntity } from './import-profile.entity.js';

export interface SavedProfile extends Pick<ImportProfileEntity, 'name' | 'id' | 'updated'> {
  profile: ImportProfile;
}

const SELECT = 'SELECT name, id, document, updated FROM import_profiles';

/**
 * Repository of saved profiles. Uses hand-written SQL to lock and replace a profile in the transaction of its audit
 * event (ADR 13).
 */
@Injectable()
export class ImportProfilesRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  async find(name: string): Promise<SavedProfile | undefined> {
    const row = await this.database.queryOne<ImportProfileEntity>(`${SELECT} WHERE name = ?`, [name]);
    return row && toSaved(row);
  }

  async count(tx: Sql): Promise<number> {
    return countRows(tx, 'SELECT COUNT(*) AS count FROM import_profiles');
  }

  async list(): Promise<SavedProfile[]> {
    const rows = await this.database.query<ImportProfileEntity>(`${SELECT} ORDER BY name`);
    return rows.map(toSaved);
  }

  async lock(tx: Sql, name: string): Promise<SavedProfile | undefined> {
    const row = await tx.queryOne<ImportProfileEntity>(`${SELECT} WHERE name = ?${lockClauseOf(tx)}`, [name]);
    return row && toSaved(row);
  }

  async insert(tx: Sql, { name, id, profile, updated }: SavedProfile): Promise<void> {
    const row = { name, id, document: toJson(profile), created: updated, updated };
    await insertRows(tx, ImportProfileEntity, [row]);
  }

  async replace(tx: Sql, name: string, profile: ImportProfile): Promise<void> {
    const sql = 'UPDATE import_profiles SET document = ?, updated = ? WHERE name = ?';
    await tx.execute(sql, [toJson(profile), now(), name]);
  }

  async delete(tx: Sql, name: string): Promise<void> {
    await tx.execute('DELETE FROM import_profiles WHERE name = ?', [name]);
  }
}

function toSaved({ name, id, document, updated }: ImportProfileEntity): SavedProfile {
  return { name, id, profile: fromJson(document), updated };
}
