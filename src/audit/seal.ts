import { type Hash, createHash, createHmac, hash } from 'node:crypto';
import type { AuditEventEntity, AuditLateEventEntity, AuditSealEntity } from './audit.entity.js';

/** The form of a seal, with which its hash begins. A new form gets a new number. */
const FORM = ['rollcall audit seal', 2] as const;

/**
 * A row that becomes visible later than this after the time of its id is no late one but an inserted one. Clocks of instances
 * differ by 10 minutes at most, and a transaction that is older than 4 is not committed (`TransactionRunner`).
 */
export const LATE_MILLIS = 15 * 60_000;

/** What is before the first seal. */
export const NO_SEAL = { number: 0, hash: '', until_id: '00000000-0000-0000-0000-000000000000', purged: 0 };

/** The columns of a row in the order in which its hash has them. */
export const ROW_COLUMNS = [
  'id',
  'time',
  'actor_kind',
  'actor_id',
  'action',
  'target_kind',
  'target_id',
  'changes',
  'request_id',
  'ip',
] as const;

/** The columns of a seal in the order in which its hash has them, after its number and the hash of the seal before. */
export const SEAL_FACTS = [
  'sealed',
  'until_id',
  'row_count',
  'rows_hash',
  'late_count',
  'late_hash',
  'purged',
  'key_id',
  'members_hash',
] as const;

/** What is sealed of a row: all of it, whatever someone has written there. */
export type SealedRow = {
  readonly [K in keyof AuditEventEntity]: K extends 'actor_id' ? string | null : string;
};

/** A seal without its hash and what is no part of it. */
export type SealFacts = Omit<AuditSealEntity, 'hash' | 'members'>;

/** The hash of rows in the order of their ids: SHA-256 over one JSON array a line, with every column of each row. */
export class RowsHash {
  count = 0;
  private readonly hash: Hash = createHash('sha256');

  add(row: SealedRow): void {
    this.addLine(canonical(row));
  }

  /** An entry for a late row, in place of the row. */
  addLate({ id, row_hash }: Pick<AuditLateEventEntity, 'id' | 'row_hash'>): void {
    this.addLine(JSON.stringify([id, row_hash]));
  }

  /** 64 hexadecimal digits. Nothing can be added afterwards. */
  digest(): string {
    return this.hash.digest('hex');
  }

  private addLine(line: string): void {
    this.count++;
    this.hash.update(`${line}\n`);
  }
}

/** The hash of one row. */
export const hashOfRow = (row: SealedRow): string => hash('sha256', canonical(row));

const canonical = (row: SealedRow): string => JSON.stringify(ROW_COLUMNS.map((name) => row[name]));

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
    const { number, key_id } = facts;
    const text = JSON.stringify([...FORM, number, previous, ...SEAL_FACTS.map((name) => facts[name])]);
    if (key_id === '') return hash('sha256', text);
    const key = this.byName.get(key_id);
    if (key === undefined) throw new Error('the key of a seal is not known');
    return createHmac('sha256', key).update(text).digest('hex');
  }
}

const MEMBER_BYTES = 6;

/** The rows of a seal, by six bytes of a hash of each id. They select rows and are no evidence for what is in these. */
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
    for (let at = 0; at + MEMBER_BYTES <= bytes.length; at += MEMBER_BYTES)
      known.add(bytes.readUIntBE(at, MEMBER_BYTES));
    return (id) => known.has(memberOf(id).readUIntBE(0, MEMBER_BYTES));
  }

  /** The hash over a text of members, which a seal covers. */
  static hashOf(text: string): string {
    return hash('sha256', text);
  }
}

const memberOf = (id: string): Buffer => hash('sha256', id, 'buffer').subarray(0, MEMBER_BYTES);
