import { Inject, Injectable } from '@nestjs/common';
import { insertRows } from '../database/engine/bulk.js';
import { DATABASE, type Database } from '../database/engine/database.js';
import { type Sql, forUpdate } from '../database/engine/sql.js';
import { ApiKeyEntity } from './api-key.entity.js';

@Injectable()
export class ApiKeyRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  async findByHash(hash: string): Promise<ApiKeyEntity | undefined> {
    const key = await this.database.first<ApiKeyEntity>(
      'SELECT id, key_hash, name, created, expires, revoked, last_used FROM api_keys WHERE key_hash = ?',
      [hash],
    );
    return key;
  }

  async insert(tx: Sql, key: ApiKeyEntity): Promise<void> {
    await insertRows(tx, ApiKeyEntity, [key]);
  }

  /** Newest first. */
  async list(): Promise<ApiKeyEntity[]> {
    return this.database.query<ApiKeyEntity>(
      'SELECT id, key_hash, name, created, expires, revoked, last_used FROM api_keys ORDER BY id DESC',
    );
  }

  async lock(tx: Sql, id: string): Promise<ApiKeyEntity | undefined> {
    const key = await tx.first<ApiKeyEntity>(
      `SELECT id, key_hash, name, created, expires, revoked, last_used FROM api_keys WHERE id = ?${forUpdate(tx)}`,
      [id],
    );
    return key;
  }

  async revoke(tx: Sql, id: string, time: string): Promise<void> {
    await tx.execute('UPDATE api_keys SET revoked = ? WHERE id = ?', [time, id]);
  }

  async touch(id: string, time: string): Promise<void> {
    await this.database.execute('UPDATE api_keys SET last_used = ? WHERE id = ?', [time, id]);
  }
}
