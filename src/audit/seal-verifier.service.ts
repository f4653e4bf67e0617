import { Injectable } from '@nestjs/common';
import { timeOf } from '../platform/common/uuid.js';
import { type DbTime, now, toMillis } from '../platform/common/time.js';
import { Env } from '../platform/config/env.js';
import {
  AuditSealRepository,
  type LateEvent,
  type KnownSeal,
  type ReadSeal,
} from './audit-seal.repository.js';
import { BEFORE_ALL, BEHIND_ALL, firstId, isEventId } from './audit-event.js';
import {
  type Before,
  chainFault,
  type Expected,
  isAhead,
  lateFault,
  Looks,
  ODD_ID,
  type RowFault,
  RowFaults,
} from './seal-faults.js';
import { type Incomparable, RunVerifier, type RunWatch } from './run-verifier.service.js';
import { LATE_MILLIS, Members, NO_SEAL, RowsHash, SealKeys } from './seal.js';
import { SealedRowsRepository } from './sealed-rows.repository.js';

/** First fault of a verification. */
interface SealFault {
  /** Number of the faulty seal. Undefined if the fault concerns no seal. */
  seal: number | undefined;
  /** Period of the events of the seal. */
  from: DbTime | null;
  until: DbTime | null;
  message: string;
}

/** Result of a verification. */
export interface Verdict {
  /** Number of verified seals. */
  seals: number;
  /** Number of events whose hash was compared. */
  rows: number;
  /** Number of these events that are late. */
  late: number;
  /** Number of seals whose events the retention may delete or has deleted. */
  purged: number;
  /** Number of events that no seal covers yet. */
  unsealed: number;
  newest: { number: number; hash: string; sealed: DbTime; keyed: boolean } | null;
  /** Fault of a seal, after which verification stopped. Otherwise the first entry of `bad`. */
  fault: SealFault | null;
  /** Number of faulty events. */
  bad_count: number;
  /** First hundred faulty events. */
  bad: readonly RowFault[];
}

/** State of a running verification. */
interface Pass {
  verdict: Omit<Verdict, 'fault' | 'bad_count' | 'bad'>;
  faults: RowFaults;
  looks: Looks;
  open: string; // smallest id that an unsealed late event can have
  runs: RunWatch;
}

/** Verifies all events against their seals, event by event, in constant memory. */
@Injectable()
export class SealVerifier {
  private readonly keys: SealKeys;

  constructor(
    env: Env,
    private readonly seals: AuditSealRepository,
    private readonly rows: SealedRowsRepository,
    private readonly runs: RunVerifier,
  ) {
    this.keys = new SealKeys(env.AUDIT_SEAL_KEY);
  }

  /**
   * Verifies all seals and events. Stops at the first faulty seal, but collects all faulty events.
   * @param expected a seal that was stored outside the service. It detects a chain that was completely rebuilt.
   */
  async verify(expected?: Expected): Promise<Verdict> {
    const last = await this.seals.last();
    const first = await this.seals.find(1);
    const faults = new RowFaults();
    const bounds: Incomparable = {
      deleted: () => this.deletedUntil(),
      first: first ? firstId(toMillis(first.sealed)) : BEHIND_ALL,
    };
    const pass: Pass = {
      verdict: emptyVerdict(last),
      faults,
      looks: new Looks(),
      open: last ? firstId(toMillis(last.sealed) - LATE_MILLIS) : BEHIND_ALL,
      runs: this.runs.watch(faults, bounds),
    };
    const fault = await this.all(pass, last, expected);
    if (!fault) {
      await pass.runs.end();
      await this.runs.verify(faults, bounds);
    }
    const { count: bad_count, named: bad } = faults;
    const ofEvent = bad[0] ? generalFault(`the event ${bad[0].id} ${bad[0].message}`) : null;
    return { ...pass.verdict, fault: fault ?? ofEvent, bad_count, bad };
  }

  private async all(
    pass: Pass,
    last: KnownSeal | undefined,
    expected: Expected | undefined,
  ): Promise<SealFault | undefined> {
    let before: Before = NO_SEAL;
    for await (const { row } of this.rows.rows(undefined, BEFORE_ALL)) pass.faults.add(row.id, ODD_ID);
    for await (const read of this.seals.seals()) {
      const { seal } = read;
      if (last && seal.number > last.number) break; // created meanwhile
      const message =
        chainFault(read, before, this.keys, last?.number) ??
        expectedFault(seal, expected) ??
        (await this.sealFault(read, before, pass));
      if (message !== undefined) return faultOf(seal, before, message);
      pass.verdict.seals++;
      before = seal;
    }
    await this.unsealed(before.until_id, pass);
    for (const id of await this.rows.oddIds()) pass.faults.add(id, ODD_ID);
    for (const id of await this.seals.unknownLate())
      pass.faults.add(id, 'was inserted: it is listed as a late event of a missing seal');
    const message = missing(expected, before.number, pass.verdict.unsealed);
    return message === undefined ? undefined : generalFault(message);
  }

  private async sealFault({ seal }: ReadSeal, before: Before, pass: Pass): Promise<string | undefined> {
    pass.looks.next(seal.sealed);
    // Members are read before the deletion bound, because they are deleted only after their events.
    const members = await this.seals.membersOf(seal.number);
    const isPurged = seal.until_id <= (await this.deletedUntil());
    if (members === undefined || (members === null && !isPurged)) return 'its list of events was changed';
    if (members !== null && Members.hashOf(members) !== seal.members_hash)
      return 'its list of events was changed: the hash of the list does not match';
    const rows = await this.ownRows(seal, before.until_id, Members.of(members ?? ''), isPurged, pass);
    const isPartOfPurged = rows.count < seal.row_count && seal.until_id <= (await this.deletedUntil());
    if (!isPartOfPurged) {
      if (rows.count !== seal.row_count) {
        const what = rows.count < seal.row_count ? 'removed' : 'inserted';
        return `it covers ${seal.row_count} events, but ${rows.count} exist: events were ${what}`;
      }
      if (rows.digest() !== seal.rows_hash) return 'events were changed: their hash does not match';
      pass.verdict.rows += rows.count;
    }
    return this.lateFault(seal, before, pass);
  }

  /** Returns the id before which the retention may have deleted events. A running service may move it at any time. */
  private async deletedUntil(): Promise<string> {
    const last = await this.seals.last();
    return (await this.seals.find(last?.purged ?? 0))?.until_id ?? NO_SEAL.until_id;
  }

  /** Hashes the events that a seal covers. Reports events of its range that neither this nor another seal can cover. */
  private async ownRows(
    { number, until_id: until }: KnownSeal,
    from: string,
    isMember: (id: string) => boolean,
    isPurged: boolean,
    { faults, open, verdict, runs }: Pass,
  ): Promise<RowsHash> {
    const hash = new RowsHash();
    const late = await this.seals.lateIn(from, until);
    for await (const read of this.rows.rows(from, until)) {
      const { row, hasId } = read;
      await runs.see(row);
      faults.judge(read);
      if (!hasId || !isEventId(row.id) || late.has(row.id)) continue;
      if (isMember(row.id)) hash.add(row);
      else if (row.id >= open && !isPurged) verdict.unsealed++;
      else faults.add(row.id, `was inserted: seal ${number} covers its period, but not this event`);
    }
    return hash;
  }

  /** Verifies the late events of a seal. Returns a message if the list itself is faulty. */
  private async lateFault(seal: KnownSeal, before: Before, pass: Pass): Promise<string | undefined> {
    const hash = new RowsHash();
    const events: LateEvent[] = [];
    for await (const event of this.seals.lateOf(seal.number)) {
      if (!event.isAsRead) return LATE_CHANGED;
      hash.addLate(event.entry);
      events.push(event);
    }
    const deleted = await this.deletedUntil();
    const fits = hash.count === seal.late_count && hash.digest() === seal.late_hash;
    // The retention deletes late entries after it has deleted their events.
    const isPurged = seal.until_id <= deleted;
    if (!fits && !(isPurged && hash.count < seal.late_count)) return LATE_CHANGED;
    for (const event of events) {
      const { id } = event.entry;
      const message =
        !fits && event.row && id < deleted
          ? 'was inserted: the service did not write its late entry'
          : lateFault(event, seal, before, pass.looks, deleted);
      if (message !== undefined) pass.faults.add(id, message);
      else if (event.row) {
        pass.verdict.rows++;
        pass.verdict.late++;
      }
    }
    return undefined;
  }

  /** Counts the events after the last seal, and reports invalid ones. */
  private async unsealed(from: string, { faults, verdict, runs }: Pass): Promise<void> {
    const ahead = await this.seals.lateIn(from, undefined);
    for await (const read of this.rows.rows(from, undefined)) {
      const { row } = read;
      await runs.see(row);
      if (!faults.judge(read) || ahead.has(row.id)) continue;
      if (isAhead(row.id, now())) faults.add(row.id, 'was inserted: its time is in the future');
      else verdict.unsealed++;
    }
  }
}

const LATE_CHANGED = 'its list of late events was changed';

const emptyVerdict = (last: KnownSeal | undefined): Pass['verdict'] => ({
  seals: 0,
  rows: 0,
  late: 0,
  purged: last?.purged ?? 0,
  unsealed: 0,
  newest: last
    ? { number: last.number, hash: last.hash, sealed: last.sealed, keyed: last.key_id !== '' }
    : null,
});

function expectedFault(seal: KnownSeal, expected: Expected | undefined): string | undefined {
  if (seal.number !== expected?.number || seal.hash === expected.hash) return undefined;
  return 'its hash differs from the expected hash: the chain of seals was rebuilt';
}

function missing(expected: Expected | undefined, newest: number, unsealed: number): string | undefined {
  if (expected && expected.number > newest)
    return `seal ${expected.number} is missing: the newest seal is ${newest}`;
  if (newest === 0 && unsealed > 0)
    return 'there are events but no seals. The service creates a seal after each hour';
  return undefined;
}

/** Creates a fault that concerns no single seal. */
const generalFault = (message: string): SealFault => ({ seal: undefined, from: null, until: null, message });

const faultOf = ({ number, until_id }: KnownSeal, before: Before, message: string): SealFault => ({
  seal: number,
  from: before.number === 0 ? null : timeOf(before.until_id),
  until: isEventId(until_id) ? timeOf(until_id) : null,
  message,
});
