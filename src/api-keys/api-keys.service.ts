import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { Caller, KeyActor } from '../access/actor.js';
import { AuditService } from '../audit/audit.service.js';
import { sha256 } from '../common/secret.js';
import { now, secondsFrom } from '../common/time.js';
import type { Sql } from '../database/sql.js';
import { isMistyped } from './api-key.format.js';
import { ApiKeyRepository } from './api-key.repository.js';

/** `last_used` is true to this many seconds, so that a busy key does not write with every request. */
const LAST_USED_SECONDS = 60;

@Injectable()
export class ApiKeysService {
  constructor(
    private readonly repository: ApiKeyRepository,
    private readonly audit: AuditService,
  ) {}

  /** The actor of a key; undefined for a key that is mistyped, unknown, expired or revoked. */
  async authenticate(key: string): Promise<KeyActor | undefined> {
    if (isMistyped(key)) return undefined;
    const found = await this.repository.findByHash(sha256(key));
    const time = now();
    if (!found || found.revoked !== null || (found.expires !== null && found.expires <= time))
      return undefined;
    if (found.last_used === null || found.last_used < secondsFrom(time, -LAST_USED_SECONDS)) {
      await this.repository.touch(found.id, time);
    }
    return { kind: 'key', id: found.id };
  }

  /** Stores the hash of a key. */
  async add(tx: Sql, name: string, key: string, caller: Caller): Promise<void> {
    const id = uuidv7();
    const row = {
      id,
      key_hash: sha256(key),
      name,
      created: now(),
      expires: null,
      revoked: null,
      last_used: null,
    };
    await this.repository.insert(tx, row);
    await this.audit.record(tx, caller, [{ action: 'api_key.created', target: { kind: 'api_key', id } }]);
  }
}
