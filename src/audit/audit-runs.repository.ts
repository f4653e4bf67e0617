import { Inject, Injectable } from '@nestjs/common';
import type { Caller } from '../access/actor.js';
import { DATABASE, type Database } from '../platform/database/engine/database.js';
import {
  type Sql,
  indexHintOf,
  deleteRows,
  selectWhereIn,
  upsertRows,
} from '../platform/database/engine/sql.js';
import { type AuditEventEntity, AuditRunEntity, type RunPart } from './audit.entity.js';
import { isEventId } from './audit-event.js';
import {
  isIntact,
  buildNonTextCondition,
  readByKey,
  buildStoredFormSql,
  textOfHex,
  buildMaxCondition,
} from './stored-form.js';

const COLUMNS = ['run_id', 'part', 'person_kind', 'person_id'] as const;
const RUNS = 200;
const MAX_INVALID = 20;

export interface ReadRun {
  run: AuditRunEntity;
  /** False if the driver does not return the stored bytes unchanged. The service never writes such bytes. */
  isIntact: boolean;
}

/** Audit event that recorded the start or the approval of an import. */
export type RunEvent = Pick<AuditEventEntity, 'id' | 'target_id' | 'action' | 'actor_kind' | 'actor_id'>;

/** Stores and reads the parties that started and approved each import. */
@Injectable()
export class AuditRunsRepository {
  constructor(@Inject(DATABASE) private readonly database: Database) {}

  async saveParty(tx: Sql, run_id: string, part: RunPart, { actor }: Caller): Promise<void> {
    const row = { run_id, part, person_kind: actor.kind, person_id: actor.id };
    await upsertRows(tx, AuditRunEntity, ['run_id', 'part'], [row]);
  }

  /** Returns the parties that started or approved these imports. Skips invalid ids, which the service never creates. */
  async findParties(runs: readonly string[]): Promise<AuditRunEntity[]> {
    const toSql = (list: string) => `SELECT ${COLUMNS.join(', ')} FROM audit_runs WHERE run_id IN (${list})`;
    return selectWhereIn<AuditRunEntity>(this.database, runs.filter(isEventId), toSql);
  }

  /** Yields all rows in pages. The rows of one import are always on the same page. */
  async *readAll(): AsyncGenerator<ReadRun[]> {
    const { dialect } = this.database;
    for await (const runs of this.readRunIds()) {
      const [first, last] = [runs[0], runs.at(-1)];
      if (!first || !last) return;
      const rows = await this.database.query<AuditRunEntity & { stored: string | null }>(
        `SELECT ${COLUMNS.join(', ')}, ${buildStoredFormSql(dialect, COLUMNS)} AS stored FROM audit_runs
         WHERE run_id >= ${textOfHex[dialect]} AND run_id <= ${textOfHex[dialect]} ORDER BY run_id, part`,
        [first.at, last.at],
      );
      yield rows.map(({ stored, ...run }) => {
        const values = COLUMNS.map((name) => run[name]);
        return { run, isIntact: isIntact(stored, values) };
      });
    }
  }

  /** Finds run ids that are not stored as text. Returns up to `MAX_INVALID` of them, in hexadecimal. */
  async findInvalidRunIds(): Promise<string[]> {
    const rows = await this.database.query<{ at: string }>(
      `SELECT HEX(run_id) AS at FROM audit_runs WHERE ${buildNonTextCondition(this.database.dialect, 'run_id')} LIMIT ${MAX_INVALID}`,
    );
    return rows.map(({ at }) => at);
  }

  /**
   * Returns the events that recorded the start and the approval of these imports, oldest first. Invalid ids are ignored.
   */
  async findEvents(runs: readonly string[]): Promise<RunEvent[]> {
    const rows = await selectWhereIn<RunEvent>(
      this.database,
      runs.filter(isEventId),
      (list) => `SELECT id, target_id, action, actor_kind, actor_id FROM audit_events
        WHERE target_id IN (${list}) AND action IN ('import.created', 'import.approved')`,
    );
    return rows.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /**
   * Deletes the rows of imports with ids less than `until`, unless a run or an audit event still refers to the import.
   * Rows with an invalid id remain as evidence of tampering.
   */
  async purge(until: string): Promise<void> {
    for await (const runs of this.readRunIds(until)) {
      const ids = runs.map(({ run_id }) => run_id).filter(isEventId);
      const referenced = await this.filterReferenced(ids);
      const unreferenced = ids.filter((id) => !referenced.has(id));
      await deleteRows(this.database, AuditRunEntity, 'run_id', unreferenced);
    }
  }

  /**
   * Returns the given imports to which a run or an audit event still refers. Reads runs before events, because a run
   * that is deleted meanwhile still has events.
   */
  private async filterReferenced(runs: readonly string[]): Promise<Set<string>> {
    const toRunSql = (list: string) => `SELECT id FROM import_runs WHERE id IN (${list})`;
    const existing = await selectWhereIn<{ id: string }>(this.database, runs, toRunSql);
    const referenced = new Set(existing.map(({ id }) => id));
    for (const [column, index] of REFERENCES) {
      // Looks up only the newest event of each import, because an import can have many events.
      const hint = indexHintOf(this.database, index);
      const toSql = (list: string) => `SELECT run_id AS id, (SELECT e.id FROM audit_events AS e${hint}
            WHERE e.${column} = audit_runs.run_id ORDER BY e.id DESC LIMIT 1) AS event
          FROM audit_runs WHERE run_id IN (${list})`;
      const rows = await selectWhereIn<{ id: string; event: string | null }>(this.database, runs, toSql);
      for (const { id, event } of rows) if (event !== null) referenced.add(id);
    }
    return referenced;
  }

  /**
   * Yields the run ids in pages, in ascending order.
   * @param until exclusive upper bound of the run ids. By default, all run ids are read.
   */
  private readRunIds(until?: string): AsyncGenerator<{ run_id: string; at: string }[]> {
    const { dialect } = this.database;
    const upper = buildMaxCondition(dialect, 'run_id', until);
    return readByKey(dialect, 'run_id', RUNS, ({ sql, params }) =>
      this.database.query(
        `SELECT DISTINCT run_id, HEX(run_id) AS at FROM audit_runs
         WHERE ${sql} AND ${upper.sql} ORDER BY run_id LIMIT ?`,
        [...params, ...upper.params, RUNS],
      ),
    );
  }
}

const REFERENCES = [
  ['actor_id', 'ix_audit_events_actor'],
  ['target_id', 'ix_audit_events_target'],
] as const;
