import { type Hash, createHash, createHmac, hash } from 'node:crypto';
import type { AuditEventEntity, AuditLateEventEntity, AuditSealEntity } from './audit.entity.js';

/** Prefix of the hashed text of a seal. A new format gets a new number. */
const SEAL_FORMAT = ['rollcall audit seal', 2] as const;

/**
 * Maximum delay between the time of an event and its commit, in milliseconds. A later commit counts as tampering.
 * Clocks of instances may differ by 10 minutes, and `TransactionRunner` commits no transaction older than 4 minutes.
 */
export const LATE_MILLIS = 15 * 60_000;

/** Placeholder for the seal before the first seal. */
export const NO_SEAL = { number: 0, hash: '', until_id: '00000000-0000-0000-0000-000000000000', purged: 0 };

/** Columns of an event, in the order in which they are hashed. */
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

/** Columns of a seal, in the order in which they are hashed, after its number and the hash of the previous seal. */
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

/** Event with every column that a seal covers. Values may be manipulated, so enumerations are plain strings. */
export type SealedRow = {
  readonly [K in keyof AuditEventEntity]: K extends 'actor_id' ? string | null : string;
};

/** Columns that the hash of a seal covers. */
export type SealFacts = Omit<AuditSealEntity, 'hash' | 'members'>;

/** SHA-256 over events in the order of their ids. Each event is a line with a JSON array of all columns. */
export class RowsHash {
  count = 0;
  private readonly hash: Hash = createHash('sha256');

  add(row: SealedRow): void {
    this.addLine(serialize(row));
  }

  addLateEvent({ id, row_hash }: Pick<AuditLateEventEntity, 'id' | 'row_hash'>): void {
    this.addLine(JSON.stringify([id, row_hash]));
  }

  /** Returns 64 hexadecimal digits. No rows can be added afterwards. */
  digest(): string {
    return this.hash.digest('hex');
  }

  private addLine(line: string): void {
    this.count++;
    this.hash.update(`${line}\n`);
  }
}

export const hashRow = (row: SealedRow): string => hash('sha256', serialize(row));

const serialize = (row: SealedRow): string => JSON.stringify(ROW_COLUMNS.map((name) => row[name]));

/** Keys of AUDIT_SEAL_KEY. A seal contains the id of its key. New seals use the first key. */
export class SealKeys {
  private readonly byName = new Map(this.keys.map((key) => [idOf(key), key]));
  /** Id of the key for new seals. Empty if there is no key. */
  readonly current = [...this.byName.keys()][0] ?? '';

  constructor(private readonly keys: readonly string[]) {}

  hasKey(name: string): boolean {
    return name === '' || this.byName.has(name);
  }

  /**
   * Computes the hash of a seal over its columns and the hash of the previous seal: HMAC-SHA-256, or SHA-256 without a
   * key.
   * @throws Error for an unknown key.
   */
  computeHash(facts: SealFacts, previous: string): string {
    const { number, key_id } = facts;
    const text = JSON.stringify([...SEAL_FORMAT, number, previous, ...SEAL_FACTS.map((name) => facts[name])]);
    if (key_id === '') return hash('sha256', text);
    const key = this.byName.get(key_id);
    if (key === undefined) throw new Error('AUDIT_SEAL_KEY does not contain the key of the seal.');
    return createHmac('sha256', key).update(text).digest('hex');
  }
}

const idOf = (key: string): string => hash('sha256', `rollcall seal ${key}`).slice(0, 8);

const MEMBER_BYTES = 6;

/**
 * Members of a seal: the first six bytes of the hash of each sealed event id. They show which events were sealed, but
 * not what the events contained.
 */
export class Members {
  private readonly parts: Buffer[] = [];

  add(id: string): void {
    this.parts.push(toMember(id));
  }

  get text(): string {
    return Buffer.concat(this.parts).toString('base64');
  }

  /** Returns a function that returns true for the event ids in a list of members. */
  static createMemberTest(text: string): (id: string) => boolean {
    const bytes = Buffer.from(text, 'base64');
    const known = new Set<number>();
    for (let at = 0; at + MEMBER_BYTES <= bytes.length; at += MEMBER_BYTES)
      known.add(bytes.readUIntBE(at, MEMBER_BYTES));
    return (id) => known.has(toMember(id).readUIntBE(0, MEMBER_BYTES));
  }
}

const toMember = (id: string): Buffer => hash('sha256', id, 'buffer').subarray(0, MEMBER_BYTES);
