import { Injectable } from '@nestjs/common';
import { sha256 } from '../platform/common/secrets.js';
import { millisOf, timeOf } from '../platform/common/uuid.js';
import { type DbTime, now } from '../platform/common/time.js';
import { Env } from '../platform/config/env.js';
import { AuditNames } from './audit-names.service.js';
import { AuditSealRepository, type LateEvent, type Seal } from './audit-seal.repository.js';
import { MIN_ID, MAX_ID, toFirstId, isEventId } from './audit-event.js';
import {
  type Previous,
  findChainFault,
  type SealRef,
  isInFuture,
  findFirstLateId,
  findLateFault,
  SealingTimes,
  INVALID_ID,
  PASS_MILLIS,
  type RowFault,
  RowFaults,
} from './seal-faults.js';
import { LATE_MILLIS, Members, NO_SEAL, RowsHash, SealKeys } from './seal.js';

interface SealFault {
  /** Number of the faulty seal. Undefined if the fault does not concern a seal. */
  seal: number | undefined;
  /** Start of the period that the seal covers. Null for the first seal, and if the fault does not concern a seal. */
  from: DbTime | null;
  /** End of the period that the seal covers. Null if the end is invalid, or if the fault does not concern a seal. */
  until: DbTime | null;
  message: string;
}

export interface AuditReport {
  seals: number;
  /** Number of events whose hash was compared. */
  rows: number;
  /** Number of late events among `rows`. */
  late: number;
  /** Number of seals whose events are older than AUDIT_RETENTION_DAYS and may be deleted. */
  purged: number;
  unsealed: number;
  newest: { number: number; hash: string; sealed: DbTime; keyed: boolean } | null;
  /** First fault, or null. A faulty event is reported here only if all seals are valid. */
  fault: SealFault | null;
  bad_count: number;
  /** First hundred faulty events. */
  bad: readonly RowFault[];
}

interface State {
  verdict: Omit<AuditReport, 'fault' | 'bad_count' | 'bad'>;
  faults: RowFaults;
  times: SealingTimes;
  open: string; // events with smaller ids can no longer be sealed as late events
}

/** Verifies all events against their seals, event by event, in constant memory. */
@Injectable()
export class SealVerifier {
  private readonly keys = new SealKeys(this.env.AUDIT_SEAL_KEY);

  constructor(
    private readonly env: Env,
    private readonly seals: AuditSealRepository,
    private readonly names: AuditNames,
  ) {}

  /**
   * Verifies all seals and events. Stops at the first faulty seal, but continues after faulty events.
   * @param expected seal that an operator stored outside the service. If its hash differs in the database, the whole
   * chain of seals was rebuilt.
   */
  async verify(expected?: SealRef): Promise<AuditReport> {
    const last = await this.seals.findLast();
    const faults = new RowFaults();
    const state: State = {
      verdict: createVerdict(last),
      faults,
      times: new SealingTimes(),
      open: last ? findFirstLateId(last.sealed, now()) : MAX_ID,
    };
    const fault = (await this.verifySeals(state, last, expected)) ?? (await this.findMissingStart(last));
    const { count: bad_count, named: bad } = faults;
    const eventFault = bad[0] ? toFault(`the event ${bad[0].id} ${bad[0].message}`) : null;
    return { ...state.verdict, fault: fault ?? eventFault, bad_count, bad };
  }

  private async verifySeals(
    state: State,
    last: Seal | undefined,
    expected: SealRef | undefined,
  ): Promise<SealFault | undefined> {
    let previous: Previous = NO_SEAL;
    for await (const { row } of this.seals.readEvents(undefined, MIN_ID))
      state.faults.add(row.id, INVALID_ID);
    for await (const read of this.seals.readAll()) {
      const { seal } = read;
      if (last && seal.number > last.number) break; // stop at a seal that was created during this verification
      const message =
        findChainFault(read, previous, this.keys, last?.number) ??
        findHashMismatch(seal, expected) ??
        (await this.verifySeal(seal, previous, state));
      if (message !== undefined) return toSealFault(seal, previous, message);
      state.verdict.seals++;
      previous = seal;
    }
    await this.verifyUnsealedEvents(previous.until_id, state);
    for (const id of await this.seals.findInvalidEventIds()) state.faults.add(id, INVALID_ID);
    for (const id of await this.seals.findUnknownLateIds())
      state.faults.add(
        id,
        'was not written by the service: it claims to be a late event of a seal that does not exist',
      );
    if (!expected || expected.number <= previous.number) return undefined;
    return toFault(`seal ${expected.number} is missing: the newest seal is ${previous.number}`);
  }

  /**
   * Reports that the first events were removed, or that events older than an hour have no seal. The creation of each
   * user and API key is an event, so the first event cannot be later than the first user or key.
   */
  private async findMissingStart(last: Seal | undefined): Promise<SealFault | undefined> {
    const first = await this.names.findFirstId();
    const latest = first === undefined ? MAX_ID : toFirstId(millisOf(first) + LATE_MILLIS);
    if (first !== undefined && !last?.purged && !(await this.seals.hasEvents(MIN_ID, latest)))
      return toFault(
        `a user or API key is from ${timeOf(first)}, but no event is that old: events were removed`,
      );
    if (last || !(await this.seals.hasEvents(MIN_ID, toFirstId(Date.now() - PASS_MILLIS)))) return undefined;
    return toFault(
      'there are events but no seals: seals were removed, or the service has not run for an hour',
    );
  }

  private async verifySeal(seal: Seal, previous: Previous, state: State): Promise<string | undefined> {
    state.times.advanceTo(seal.sealed);
    // Reads the members before calling `findDeletionBound`. Otherwise, members that are deleted between the two calls
    // would look like tampering.
    const members = await this.seals.findMemberText(seal.number);
    const isPurged = seal.until_id <= (await this.findDeletionBound());
    if (members === undefined || (members === null && !isPurged)) return 'its list of events was changed';
    if (members !== null && sha256(members) !== seal.members_hash)
      return 'its list of events was changed: the hash of the list does not match';
    const isMember = Members.createMemberTest(members ?? '');
    const rows = await this.hashRows(seal, previous.until_id, isMember, isPurged, state);
    const isPartOfPurged = rows.count < seal.row_count && seal.until_id <= (await this.findDeletionBound());
    if (!isPartOfPurged) {
      if (rows.count !== seal.row_count) {
        const what = rows.count < seal.row_count ? 'removed' : 'inserted';
        return `it covers ${seal.row_count} events, but ${rows.count} exist: events were ${what}`;
      }
      if (rows.digest() !== seal.rows_hash) return 'events were changed: their hash does not match';
      state.verdict.rows += rows.count;
    }
    return this.verifyLateEvents(seal, previous, state);
  }

  /** Returns the id before which the retention job may have deleted events. It can change during the verification. */
  private async findDeletionBound(): Promise<string> {
    const last = await this.seals.findLast();
    return (await this.seals.find(last?.purged ?? 0))?.until_id ?? NO_SEAL.until_id;
  }

  /**
   * Hashes the events that a seal covers. Reports other events in its range, unless a later seal can cover them as late
   * events.
   */
  private async hashRows(
    { number, until_id: until }: Seal,
    from: string,
    isMember: (id: string) => boolean,
    isPurged: boolean,
    { faults, open, verdict }: State,
  ): Promise<RowsHash> {
    const hash = new RowsHash();
    const late = await this.seals.findLateIds(from, until);
    for await (const read of this.seals.readEvents(from, until)) {
      const { row, hasId } = read;
      faults.validateFormat(read);
      if (!hasId || !isEventId(row.id) || late.has(row.id)) continue;
      if (isMember(row.id)) hash.add(row);
      else if (row.id >= open && !isPurged && !isInFuture(row.id, now())) verdict.unsealed++;
      else
        faults.add(
          row.id,
          `was not written by the service: seal ${number} covers its period, but not this event`,
        );
    }
    return hash;
  }

  /** Verifies the late events of a seal. Returns a message if the list of late events was changed. */
  private async verifyLateEvents(seal: Seal, previous: Previous, state: State): Promise<string | undefined> {
    const hash = new RowsHash();
    const events: LateEvent[] = [];
    for await (const event of this.seals.readLateEvents(seal.number)) {
      if (!event.isIntact) return LATE_CHANGED;
      hash.addLateEvent(event.entry);
      events.push(event);
    }
    const deleted = await this.findDeletionBound();
    const fits = hash.count === seal.late_count && hash.digest() === seal.late_hash;
    // A purged seal may lack entries of late events, because the retention job deletes them.
    const isPurged = seal.until_id <= deleted;
    if (!fits && !(isPurged && hash.count < seal.late_count)) return LATE_CHANGED;
    for (const event of events) {
      const { id } = event.entry;
      const message =
        !fits && event.row && id < deleted
          ? 'was not written by the service: its entry in the list of late events is forged'
          : findLateFault(event, seal, previous, state.times, deleted);
      if (message !== undefined) state.faults.add(id, message);
      else if (event.row) {
        state.verdict.rows++;
        state.verdict.late++;
      }
    }
    return undefined;
  }

  private async verifyUnsealedEvents(from: string, { faults, verdict }: State): Promise<void> {
    const futureIds = await this.seals.findLateIds(from, undefined);
    for await (const read of this.seals.readEvents(from, undefined)) {
      const { row } = read;
      if (!faults.validateFormat(read) || futureIds.has(row.id)) continue;
      if (isInFuture(row.id, now()))
        faults.add(row.id, 'was not written by the service: its time is in the future');
      else verdict.unsealed++;
    }
  }
}

const LATE_CHANGED = 'its list of late events was changed';

const createVerdict = (last: Seal | undefined): State['verdict'] => ({
  seals: 0,
  rows: 0,
  late: 0,
  purged: last?.purged ?? 0,
  unsealed: 0,
  newest: last
    ? { number: last.number, hash: last.hash, sealed: last.sealed, keyed: last.key_id !== '' }
    : null,
});

function findHashMismatch(seal: Seal, expected: SealRef | undefined): string | undefined {
  if (seal.number !== expected?.number || seal.hash === expected.hash) return undefined;
  return 'its hash differs from the expected hash: the chain of seals was rebuilt';
}

const toFault = (message: string): SealFault => ({ seal: undefined, from: null, until: null, message });

const toSealFault = ({ number, until_id }: Seal, previous: Previous, message: string): SealFault => ({
  seal: number,
  from: previous.number === 0 ? null : timeOf(previous.until_id),
  until: isEventId(until_id) ? timeOf(until_id) : null,
  message,
});
