import { Injectable } from '@nestjs/common';
import { type DbTime, toMillis } from '../platform/common/time.js';
import type { AuditLateEventEntity } from './audit-seal.entity.js';
import { AuditSealRepository, type KnownSeal } from './audit-seal.repository.js';
import { firstId, isEventId } from './event-id.js';
import { LateEventsRepository } from './late-events.repository.js';
import { LATE_MILLIS, Members, hashOfRow } from './seal.js';
import { SealedRowsRepository } from './sealed-rows.repository.js';

/** An entry for a row, and the action of the row. */
export interface LateRow {
  entry: Omit<AuditLateEventEntity, 'seal'>;
  action: string;
}

/** Finds rows that no range covers: those that came late, and those of the future. */
@Injectable()
export class LateRows {
  constructor(
    private readonly rows: SealedRowsRepository,
    private readonly late: LateEventsRepository,
    private readonly seals: AuditSealRepository,
  ) {}

  /**
   * Rows of sealed ranges that became visible since the last look, of which the ids are no older than `LATE_MILLIS` before it:
   * what is older should have been seen then. @param most rows that are wanted.
   */
  async missed(last: KnownSeal, look: DbTime, most: number): Promise<LateRow[]> {
    // Several seals may be of one look: where one had to be broken off, or was made in parts.
    let before: KnownSeal | undefined = last;
    while (before && before.sealed >= look) before = await this.seals.find(before.number - 1);
    if (!before) return [];
    const begin = firstId(toMillis(before.sealed) - LATE_MILLIS);
    if (begin >= last.until_id) return [];
    const isSealed = await this.sealedFrom(begin);
    return this.uncovered(begin, last.until_id, isSealed, most);
  }

  /**
   * Rows that no instance can have written yet. They are named in a seal now, so that they do not pass for others when their
   * time has come.
   */
  async ahead(look: DbTime, most: number): Promise<LateRow[]> {
    const begin = firstId(toMillis(look) + LATE_MILLIS + 1);
    return this.uncovered(begin, undefined, () => false, most);
  }

  private async uncovered(
    from: string,
    until: string | undefined,
    isSealed: (id: string) => boolean,
    most: number,
  ): Promise<LateRow[]> {
    const known = await this.late.in(from, until);
    const found: LateRow[] = [];
    for await (const { row, hasId } of this.rows.rows(from, until)) {
      if (found.length >= most) break;
      if (!hasId || !isEventId(row.id) || known.has(row.id) || isSealed(row.id)) continue;
      found.push({ entry: { id: row.id, row_hash: hashOfRow(row) }, action: row.action });
    }
    return found;
  }

  /** Whether the seal of its range covers an id. To be asked in the order of ids. */
  private async sealedFrom(id: string): Promise<(id: string) => boolean> {
    const ranges: { until: string; members: string }[] = [];
    for await (const { seal } of this.seals.seals((await this.seals.lastUntil(id)) ?? 0)) {
      ranges.push({ until: seal.until_id, members: (await this.seals.membersOf(seal.number)) ?? '' });
    }
    let range = ranges.shift();
    let isMember = Members.of(range?.members ?? '');
    return (id) => {
      while (range && id >= range.until) {
        range = ranges.shift();
        isMember = Members.of(range?.members ?? '');
      }
      return isMember(id);
    };
  }
}
