import { Injectable } from '@nestjs/common';
import { type DbTime, toDbTime, toMillis } from '../common/time.js';
import { Env } from '../config/env.js';
import { AuditSealRepository, type KnownSeal } from './audit-seal.repository.js';
import { BEHIND_ALL, firstId, millisOf } from './event-id.js';
import { LATE_MILLIS, Members, NO_SEAL, RowsHash, SealKeys } from './seal.js';

/** What was found wrong first. */
interface SealFault {
  /** The seal; undefined where there is none. */
  seal: number | undefined;
  /** The times of its rows. */
  from: DbTime | null;
  until: DbTime | null;
  message: string;
}

export interface Verdict {
  seals: number;
  /** Rows whose hash was compared. */
  rows: number;
  /** Of them, rows that a later seal covers because they became visible after their own. */
  late: number;
  /** Seals whose rows the retention has deleted, or may. */
  purged: number;
  /** Rows that no seal covers yet: those since the newest one, and late ones. */
  unsealed: number;
  newest: { number: number; hash: string; sealed: DbTime; keyed: boolean } | null;
  fault: SealFault | null;
}

type Before = Pick<KnownSeal, 'number' | 'hash' | 'until_id' | 'purged'>;

/** Compares the audit with its seals, row by row, in constant memory. */
@Injectable()
export class SealVerifier {
  private readonly keys: SealKeys;

  constructor(
    env: Env,
    private readonly repository: AuditSealRepository,
  ) {
    this.keys = new SealKeys(env.AUDIT_SEAL_KEY);
  }

  /**
   * Stops at the first fault. @param expected the number and hash of a seal that were kept elsewhere: without them, whoever
   * can write the table could have made a new chain.
   */
  async verify(expected?: { number: number; hash: string }): Promise<Verdict> {
    const last = await this.repository.last();
    const verdict: Verdict = {
      seals: 0,
      rows: 0,
      late: 0,
      purged: last?.purged ?? 0,
      unsealed: 0,
      newest: last
        ? { number: last.number, hash: last.hash, sealed: last.sealed, keyed: last.key_id !== '' }
        : null,
      fault: null,
    };
    const open = last ? firstId(toMillis(last.sealed) - LATE_MILLIS) : BEHIND_ALL;
    let before: Before = NO_SEAL;
    for await (const seal of this.repository.seals(0)) {
      if (last && seal.number > last.number) break; // made meanwhile
      const message =
        this.chainFault(seal, before, last) ??
        this.expectedFault(seal, expected) ??
        (await this.rowsFault(seal, before, open, verdict));
      if (message !== undefined) return { ...verdict, fault: faultOf(seal, before, message) };
      verdict.seals++;
      before = seal;
    }
    verdict.unsealed += await this.repository.count(before.until_id, BEHIND_ALL);
    const missing = this.missing(expected, before.number, verdict.unsealed);
    return missing === undefined
      ? verdict
      : { ...verdict, fault: { seal: undefined, from: null, until: null, message: missing } };
  }

  private chainFault(seal: KnownSeal, before: Before, last: KnownSeal | undefined): string | undefined {
    if (seal.number !== before.number + 1)
      return `the seals before it, from ${before.number + 1} on, are missing`;
    if (!this.keys.knows(seal.key_id)) return 'it was made with a key that AUDIT_SEAL_KEY does not name';
    if (seal.until_id <= before.until_id) return 'it ends before the seal before it';
    if (seal.purged < before.purged || seal.purged >= seal.number)
      return 'what it says of deleted events cannot be';
    if (this.keys.seal(seal, before.hash) !== seal.hash)
      return 'it was changed, or the seal before it was: its hash does not fit';
    if (seal.number === last?.number && seal.key_id === '' && this.keys.current !== '')
      return 'the newest seal was made without the key of AUDIT_SEAL_KEY; if the key is new, wait for the next seal';
    return undefined;
  }

  private expectedFault(
    seal: KnownSeal,
    expected: { number: number; hash: string } | undefined,
  ): string | undefined {
    if (seal.number !== expected?.number || seal.hash === expected.hash) return undefined;
    return 'its hash is not the expected one: the chain was made anew';
  }

  private missing(
    expected: { number: number; hash: string } | undefined,
    newest: number,
    unsealed: number,
  ): string | undefined {
    if (expected && expected.number > newest)
      return `seal ${expected.number} is missing: the newest one is ${newest}`;
    if (newest === 0 && unsealed > 0)
      return 'there are events and no seal; the service makes one after each hour';
    return undefined;
  }

  /** Compares the rows of a seal with it, unless the retention may have deleted them. */
  private async rowsFault(
    seal: KnownSeal,
    before: Before,
    open: string,
    verdict: Verdict,
  ): Promise<string | undefined> {
    const { rows, pending } = await this.ownRows(seal, before.until_id, open);
    const found = rows.count;
    const fits = rows.digest() === seal.rows_hash && found === seal.row_count;
    const deleted = await this.deletedUntil();
    if (seal.until_id <= deleted) return undefined;
    if (fits) {
      verdict.rows += found;
      verdict.unsealed += pending;
      return this.lateFault(seal, deleted, verdict);
    }
    if (found === seal.row_count) return 'events were changed: their hash does not fit';
    const what = found < seal.row_count ? 'taken out' : 'inserted';
    return `it covers ${seal.row_count} events, and ${found} are there: events were ${what}`;
  }

  /** The end of what the retention may have deleted by now: a service that runs beside goes on with it. */
  private async deletedUntil(): Promise<string> {
    const last = await this.repository.last();
    return (await this.repository.find(last?.purged ?? 0))?.until_id ?? NO_SEAL.until_id;
  }

  private async lateFault(seal: KnownSeal, deleted: string, verdict: Verdict): Promise<string | undefined> {
    const late = new RowsHash();
    for await (const { late_id, row } of this.repository.lateOf(seal.number)) {
      if (!row) return `the event ${late_id}, which it covers as a late one, was taken out`;
      late.add(row);
    }
    // The retention forgets late rows of before `deleted`; then only the hash of the seal itself can be compared.
    if (late.count < seal.late_count && this.mayHaveForgotten(seal, deleted)) return undefined;
    if (late.count !== seal.late_count)
      return `it covers ${seal.late_count} late events, and ${late.count} are there`;
    if (late.digest() !== seal.late_hash) return 'late events were changed: their hash does not fit';
    verdict.rows += late.count;
    verdict.late += late.count;
    return undefined;
  }

  /** Late rows are at most a day older than their seal. */
  private mayHaveForgotten(seal: KnownSeal, deleted: string): boolean {
    return millisOf(seal.until_id) - millisOf(deleted) < 2 * DAY_MILLIS;
  }

  /**
   * The rows of a range without those that later seals cover. @param open where a range ends behind it, the next seal will
   * cover what has come late: `pending` rows.
   */
  private async ownRows(
    { number, until_id: until }: KnownSeal,
    from: string,
    open: string,
  ): Promise<{ rows: RowsHash; pending: number }> {
    const members = until > open ? await this.repository.membersOf(number) : null;
    const isMember = members === null ? () => true : Members.of(members);
    const rows = new RowsHash();
    let pending = 0;
    const late = this.repository.lateIn(from, until);
    let next = await late.next();
    for await (const row of this.repository.rows(from, until)) {
      while (!next.done && next.value.id < row.id) next = await late.next();
      if (!next.done && next.value.id === row.id) continue;
      if (isMember(row.id)) rows.add(row);
      else pending++;
    }
    return { rows, pending };
  }
}

const DAY_MILLIS = 24 * 3_600_000;
const timeOf = (id: string): DbTime => toDbTime(new Date(millisOf(id)));

const faultOf = ({ number, until_id }: KnownSeal, before: Before, message: string): SealFault => ({
  seal: number,
  from: before.number === 0 ? null : timeOf(before.until_id),
  until: timeOf(until_id),
  message,
});
