import { Inject, Injectable } from '@nestjs/common';
import { insertRows } from '../database/bulk.js';
import { DATABASE, type Database } from '../database/database.js';
import type { Sql } from '../database/sql.js';
import { ApiKeyEntity } from './api-key.entity.js';

@Injectable()
export class ApiKeyRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  async findByHash(hash: string): Promise<ApiKeyEntity | undefined> {
    const [key] = await this.database.query<ApiKeyEntity>(
      'SELECT id, key_hash, name, created, expires, revoked, last_used FROM api_keys WHERE key_hash = ?',
      [hash],
    );
    return key;
  }

  async insert(tx: Sql, key: ApiKeyEntity): Promise<void> {
    await insertRows(tx, ApiKeyEntity, [key]);
  }

  async touch(id: string, time: string): Promise<void> {
    await this.database.execute('UPDATE api_keys SET last_used = ? WHERE id = ?', [time, id]);
  }
}
