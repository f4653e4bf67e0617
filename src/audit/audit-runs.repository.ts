import { Inject, Injectable } from '@nestjs/common';
import { setImmediate } from 'node:timers/promises';
import type { Caller } from '../access/actor.js';
import { DATABASE, type Database } from '../platform/database/engine/database.js';
import {
  type Clause,
  type Sql,
  byIndex,
  deleteRows,
  selectIn,
  upsertRows,
} from '../platform/database/engine/sql.js';
import { type AuditEventEntity, AuditRunEntity, type RunPart } from './audit.entity.js';
import { isEventId } from './audit-event.js';
import { after, isAsRead, noTexts, readByKey, storedForm, textOfHex, upperBound } from './stored-form.js';

const COLUMNS = ['run_id', 'part', 'person_kind', 'person_id'] as const;
/** Runs that one statement reads or deletes. */
const RUNS = 200;
/** Rows whose run is no text, of which one is too many. */
const ODD_RUNS = 20;

/** A row, and whether it is stored as it was read. */
export interface ReadRun {
  run: AuditRunEntity;
  isAsRead: boolean;
}

/** An event that says who did a part of an import. */
export type RunEvent = Pick<AuditEventEntity, 'id' | 'target_id' | 'action' | 'actor_kind' | 'actor_id'>;

/** Who is behind each import. */
@Injectable()
export class AuditRunsRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  /** Notes who did this part of an import. */
  async putPerson(tx: Sql, run_id: string, part: RunPart, { actor }: Caller): Promise<void> {
    const row = { run_id, part, person_kind: actor.kind, person_id: actor.id };
    await upsertRows(tx, AuditRunEntity, ['run_id', 'part'], [row]);
  }

  /** Returns who started and who approved these imports. Ids in another form are ignored: no row of the service has one. */
  async peopleOf(runs: readonly string[]): Promise<AuditRunEntity[]> {
    return selectIn<AuditRunEntity>(
      this.database,
      runs.filter(isEventId),
      (list) => `SELECT ${COLUMNS.join(', ')} FROM audit_runs WHERE run_id IN (${list})`,
    );
  }

  /** All rows, those of some imports at once. */
  async *parts(): AsyncGenerator<ReadRun[]> {
    const { dialect } = this.database;
    for (let at = ''; ;) {
      const end = await this.endOfPart(at);
      if (end === undefined) return;
      const rows = await this.database.query<AuditRunEntity & { stored: string | null }>(
        `SELECT ${COLUMNS.join(', ')}, ${storedForm(dialect, COLUMNS)} AS stored FROM audit_runs
         WHERE run_id > ${textOfHex[dialect]} AND run_id <= ${textOfHex[dialect]} ORDER BY run_id, part`,
        [at, end],
      );
      yield rows.map(({ stored, ...run }) => ({
        run,
        isAsRead: isAsRead(
          stored,
          COLUMNS.map((name) => run[name]),
        ),
      }));
      at = end;
      await setImmediate();
    }
  }

  /** Rows whose run is no text, in hexadecimal digits: some of them. */
  async oddRuns(): Promise<string[]> {
    const rows = await this.database.query<{ at: string }>(
      `SELECT HEX(run_id) AS at FROM audit_runs WHERE ${noTexts(this.database.dialect, 'run_id')} LIMIT ${ODD_RUNS}`,
    );
    return rows.map(({ at }) => at);
  }

  /** Returns the events that name who started and who approved these imports, oldest first. Ignores ids as `peopleOf` does. */
  async eventsOf(runs: readonly string[]): Promise<RunEvent[]> {
    const rows = await selectIn<RunEvent>(
      this.database,
      runs.filter(isEventId),
      (list) => `SELECT id, target_id, action, actor_kind, actor_id FROM audit_events
        WHERE target_id IN (${list}) AND action IN ('import.created', 'import.approved')`,
    );
    return rows.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /**
   * Deletes the rows of imports of before `until` of which there is neither an event nor a run any more: one that still waits
   * for a decision may write events later. Rows with an id in another form stay, as evidence that they were changed.
   */
  async purge(until: string): Promise<void> {
    const { dialect } = this.database;
    const read = ({ sql, params }: Clause): Promise<{ run_id: string; at: string }[]> =>
      this.database.query(
        `SELECT DISTINCT run_id, HEX(run_id) AS at FROM audit_runs
         WHERE ${sql} AND run_id < ? ORDER BY run_id LIMIT ?`,
        [...params, until, RUNS],
      );
    for await (const runs of readByKey(dialect, 'run_id', after(dialect, 'run_id', ''), RUNS, read)) {
      const ids = runs.map(({ run_id }) => run_id).filter(isEventId);
      const kept = await this.kept(ids);
      const gone = ids.filter((id) => !kept.has(id));
      await deleteRows(this.database, AuditRunEntity, 'run_id', gone);
    }
  }

  /** Those of the imports to which something refers. The runs come first: one that ends in between has its events by then. */
  private async kept(runs: readonly string[]): Promise<Set<string>> {
    const kept = new Set<string>();
    const add = (rows: readonly { id: string }[]) => {
      for (const { id } of rows) kept.add(id);
    };
    add(await selectIn(this.database, runs, (list) => `SELECT id FROM import_runs WHERE id IN (${list})`));
    for (const [column, index] of REFERENCES) {
      // One entry of the index for each import, however many events it has.
      const rows = await selectIn<{ id: string; event: string | null }>(
        this.database,
        runs,
        (list) => `SELECT run_id AS id, (SELECT e.id FROM audit_events AS e${byIndex(this.database, index)}
            WHERE e.${column} = audit_runs.run_id ORDER BY e.id DESC LIMIT 1) AS event
          FROM audit_runs WHERE run_id IN (${list})`,
      );
      add(rows.filter(({ event }) => event !== null));
    }
    return kept;
  }

  /** The last of the next imports, in hexadecimal digits. */
  private async endOfPart(at: string): Promise<string | undefined> {
    const { dialect } = this.database;
    const [end] = await this.database.query<{ at: string | null }>(
      `SELECT HEX(MAX(run_id)) AS at FROM (SELECT run_id FROM audit_runs
       WHERE run_id > ${textOfHex[dialect]} AND ${upperBound(dialect, 'run_id').sql} ORDER BY run_id LIMIT ?) AS part`,
      [at, RUNS],
    );
    return end?.at ? end.at : undefined;
  }
}

const REFERENCES = [
  ['actor_id', 'ix_audit_events_actor'],
  ['target_id', 'ix_audit_events_target'],
] as const;
