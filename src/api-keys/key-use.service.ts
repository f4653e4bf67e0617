import { Injectable } from '@nestjs/common';
import { AuditService } from '../audit/audit.service.js';
import { truncated } from '../platform/common/text.js';
import { now, toMillis } from '../platform/common/time.js';
import { toProblemError } from '../platform/http/problem.js';
import { Log } from '../platform/telemetry/log.js';
import type { ApiKeyEntity } from './api-key.entity.js';
import { ApiKeyRepository } from './api-key.repository.js';

/** Resolution of `last_used`, so that a busy key does not write with every request. */
const LAST_USED_MILLIS = 60_000;
/** Longer than any address; a proxy may send other text. */
export const MAX_ADDRESS = 64;
/** Addresses that are remembered; for others the audit is asked. */
const MAX_ADDRESSES = 10_000;

/** What is noted of the use of keys: when and from where it was last, and every new address. */
@Injectable()
export class KeyUse {
  /** Keys whose use is being noted. */
  private readonly noting = new Set<string>();
  /** Keys with addresses that are in the audit. */
  private readonly addresses = new Set<string>();

  constructor(
    private readonly repository: ApiKeyRepository,
    private readonly audit: AuditService,
    private readonly log: Log,
  ) {}

  /** Notes time and address of a use, once a minute. One of the requests of a moment does it for all; none fails with it. */
  async note({ id, last_used }: Pick<ApiKeyEntity, 'id' | 'last_used'>, ip: string): Promise<void> {
    const isFresh = last_used !== null && toMillis(last_used) >= Date.now() - LAST_USED_MILLIS;
    if (isFresh || this.noting.has(id)) return;
    this.noting.add(id);
    try {
      await this.repository.touch(id, now(), truncated(ip, MAX_ADDRESS));
    } catch (error) {
      this.log.fault('api keys', toProblemError(error).code, error);
    } finally {
      this.noting.delete(id);
    }
  }

  /** Records the first use of a key from an address. No request fails with it: the next one makes up for it. */
  async noteAddress(id: string, ip: string): Promise<void> {
    const use = `${id} ${ip}`;
    if (this.addresses.has(use)) return;
    if (this.addresses.size >= MAX_ADDRESSES) this.addresses.clear();
    this.addresses.add(use);
    try {
      await this.audit.recordAddress(id, ip);
    } catch (error) {
      this.addresses.delete(use);
      this.log.fault('api keys', toProblemError(error).code, error);
    }
  }
}
