import { type Hash, createHash, createHmac, hash } from 'node:crypto';
import type { AuditEventEntity } from './audit.entity.js';
import type { AuditSealEntity } from './audit-seal.entity.js';

/** The form of a seal, with which its hash begins. A new form gets a new number, and old seals keep theirs. */
const FORM = ['rollcall audit seal', 1] as const;

/**
 * A row that appears in a sealed range within this time of its id is covered by the next seal. No transaction stays open
 * for longer: servers end idle connections after 8 hours.
 */
export const LATE_MILLIS = 24 * 3_600_000;

/** What is before the first seal. */
export const NO_SEAL = { number: 0, hash: '', until_id: '00000000-0000-0000-0000-000000000000', purged: 0 };

/** A seal without its hash and what is no part of it. */
export type SealFacts = Omit<AuditSealEntity, 'hash' | 'members'>;

/** The hash of rows in the order of their ids: SHA-256 over one JSON array a line, with every column of each row. */
export class RowsHash {
  count = 0;
  private readonly hash: Hash = createHash('sha256');

  add(row: AuditEventEntity): void {
    this.count++;
    this.hash.update(`${canonical(row)}\n`);
  }

  /** 64 hexadecimal digits. Nothing can be added afterwards. */
  digest(): string {
    return this.hash.digest('hex');
  }
}

function canonical(row: AuditEventEntity): string {
  const { id, time, actor_kind, actor_id, action, target_kind, target_id, changes, request_id, ip } = row;
  return JSON.stringify([
    id,
    time,
    actor_kind,
    actor_id,
    action,
    target_kind,
    target_id,
    changes,
    request_id,
    ip,
  ]);
}

/** The keys of AUDIT_SEAL_KEY by their names. The first one seals. */
export class SealKeys {
  private readonly byName: ReadonlyMap<string, string>;
  /** The name of the key for new seals; empty without one. */
  readonly current: string;

  constructor(keys: readonly string[]) {
    this.byName = new Map(keys.map((key) => [hash('sha256', `rollcall seal ${key}`).slice(0, 8), key]));
    this.current = [...this.byName.keys()][0] ?? '';
  }

  knows(name: string): boolean {
    return name === '' || this.byName.has(name);
  }

  /**
   * The hash of a seal: HMAC-SHA-256 with its key, SHA-256 without one, over its facts and the hash of the seal before.
   * @throws Error for a key that is not known.
   */
  seal(facts: SealFacts, previous: string): string {
    const { number, sealed, until_id, row_count, rows_hash, late_count, late_hash, purged, key_id } = facts;
    const text = JSON.stringify([
      ...FORM,
      number,
      previous,
      sealed,
      until_id,
      row_count,
      rows_hash,
      late_count,
      late_hash,
      purged,
      key_id,
    ]);
    if (key_id === '') return hash('sha256', text);
    const key = this.byName.get(key_id);
    if (key === undefined) throw new Error('the key of a seal is not known');
    return createHmac('sha256', key).update(text).digest('hex');
  }
}

const MEMBER_BYTES = 6;

/** The rows of a seal, by six bytes of a hash of each id. */
export class Members {
  private readonly parts: Buffer[] = [];

  add(id: string): void {
    this.parts.push(memberOf(id));
  }

  get text(): string {
    return Buffer.concat(this.parts).toString('base64');
  }

  /** What tells the members of `text` from other ids. */
  static of(text: string): (id: string) => boolean {
    const bytes = Buffer.from(text, 'base64');
    const known = new Set<number>();
    for (let at = 0; at < bytes.length; at += MEMBER_BYTES) known.add(bytes.readUIntBE(at, MEMBER_BYTES));
    return (id) => known.has(memberOf(id).readUIntBE(0, MEMBER_BYTES));
  }
}

const memberOf = (id: string): Buffer => hash('sha256', id, 'buffer').subarray(0, MEMBER_BYTES);
