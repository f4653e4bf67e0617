import { Inject, Injectable } from '@nestjs/common';
import { type Sql, lockClauseOf, insertRows, tableOf } from '../platform/database/engine/sql.js';
import { DATABASE, type Database } from '../platform/database/engine/database.js';
import { TurnLookup } from '../platform/database/turn-lookup.js';
import { DEFAULT_PROFILE, type KeyActor } from '../access/actor.js';
import { fromJson } from '../platform/common/json.js';
import type { DbTime } from '../platform/common/time.js';
import { ApiKeyEntity } from './api-key.entity.js';

const COLUMNS = tableOf(ApiKeyEntity).columns.join(', ');

/** Reads and writes API keys. Uses hand-written SQL, because nearly every request runs `findByHash` (ADR 13). */
@Injectable()
export class ApiKeyRepository {
  private readonly byHash = new TurnLookup<ApiKeyEntity>(
    this.database,
    'key_hash',
    `SELECT ${COLUMNS} FROM api_keys`,
  );

  constructor(@Inject(DATABASE) private readonly database: Database) {}

  findByHash(hash: string): Promise<ApiKeyEntity | undefined> {
    return this.byHash.find(hash);
  }

  async find(id: string, sql: Sql = this.database): Promise<ApiKeyEntity | undefined> {
    return sql.queryOne(`SELECT ${COLUMNS} FROM api_keys WHERE id = ?`, [id]);
  }

  async insert(tx: Sql, key: ApiKeyEntity): Promise<void> {
    await insertRows(tx, ApiKeyEntity, [key]);
  }

  async list(): Promise<ApiKeyEntity[]> {
    return this.database.query(`SELECT ${COLUMNS} FROM api_keys ORDER BY id DESC`);
  }

  /** Lists unrevoked keys that expire after `time`, but not after `until`, in order of expiry. */
  async listExpiring(time: string, until: string, limit: number): Promise<ApiKeyEntity[]> {
    const sql = `SELECT ${COLUMNS} FROM api_keys WHERE revoked IS NULL AND expires > ? AND expires <= ? ORDER BY expires, id LIMIT ?`;
    return this.database.query(sql, [time, until, limit]);
  }

  async lock(tx: Sql, id: string): Promise<ApiKeyEntity | undefined> {
    return tx.queryOne(`SELECT ${COLUMNS} FROM api_keys WHERE id = ?${lockClauseOf(tx)}`, [id]);
  }

  async revoke(tx: Sql, id: string, time: string): Promise<void> {
    await tx.execute('UPDATE api_keys SET revoked = ? WHERE id = ?', [time, id]);
  }

  async updateLastUse(id: string, time: string, ip: string): Promise<void> {
    const sql = 'UPDATE api_keys SET last_used = ?, last_address = ? WHERE id = ?';
    await this.database.execute(sql, [time, ip, id]);
  }
}

export function toKeyActor(row: ApiKeyEntity): KeyActor {
  const { id, scopes, networks, expires, profile } = row;
  return {
    kind: 'key',
    id,
    rights: { scopes: scopes && fromJson(scopes), networks: networks && fromJson(networks), expires },
    ignoresUnknownFields: row.ignores_unknown_fields === 1,
    profile: profile ?? DEFAULT_PROFILE,
  };
}

export function stateOf(
  { revoked, expires }: Pick<ApiKeyEntity, 'revoked' | 'expires'>,
  time: DbTime,
): 'active' | 'expired' | 'revoked' {
  if (revoked !== null) return 'revoked';
  return expires !== null && expires <= time ? 'expired' : 'active';
}
