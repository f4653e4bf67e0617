import { Injectable } from '@nestjs/common';
import { AuditRunsRepository, type ReadRun, type RunEvent } from './audit-runs.repository.js';
import { isEventId } from './audit-event.js';
import type { RowFaults } from './seal-faults.js';
import type { SealedRow } from './seal.js';

const STEPS: Readonly<Record<string, string>> = { started: 'import.created', approved: 'import.approved' };
const PARTS = new Map(Object.entries(STEPS).map(([part, action]) => [action, part]));
const BATCH_SIZE = 200;

/**
 * Lower bounds for the ids of imports that can be verified. Events of earlier imports may be deleted, or were never
 * recorded.
 */
export interface Bounds {
  /** Returns the id before which the retention job may have deleted events. */
  findDeletionBound: () => Promise<string>;
  /** Smallest event id for the time of the first seal. Earlier imports may lack start and approval events. */
  first: string;
}

/** Check of start and approval events of imports. Call `add` for each audit event, and `finish` after the last one. */
export interface EventCheck {
  add: (event: RunStep) => Promise<void>;
  finish: () => Promise<void>;
}

type RunStep = Pick<SealedRow, 'id' | 'target_id' | 'action'>;

/** Compares the stored parties of each import with the sealed events of its start and approval. */
@Injectable()
export class RunVerifier {
  constructor(private readonly repository: AuditRunsRepository) {}

  /**
   * Starts a check that reports each import whose start or approval is recorded as an event, but whose party is not
   * stored.
   */
  startCheck(faults: RowFaults, bounds: Bounds): EventCheck {
    let events: RunStep[] = [];
    const checkBatch = async () => {
      const compared = events;
      events = [];
      const ids = [...new Set(compared.map(({ target_id }) => target_id))];
      const runs = await this.repository.findParties(ids);
      const known = new Set(runs.map(({ run_id, part }) => keyOf(run_id, STEPS[part] ?? '')));
      const missing = compared.filter(({ target_id, action }) => !known.has(keyOf(target_id, action)));
      if (missing.length === 0) return;
      const deleted = await bounds.findDeletionBound();
      for (const { id, target_id, action } of missing) {
        if (id < deleted || id < bounds.first) continue;
        const message = `is an import without a record of who ${PARTS.get(action)} it: the record was removed`;
        faults.add(target_id, message);
      }
    };
    return {
      add: async (event) => {
        if (PARTS.has(event.action)) events.push(event);
        if (events.length >= BATCH_SIZE) await checkBatch();
      },
      finish: checkBatch,
    };
  }

  /**
   * Compares the parties that started or approved each import with the newest events of its start and approval. Reports
   * missing events, and events of a different actor.
   */
  async verify(faults: RowFaults, bounds: Bounds): Promise<void> {
    for await (const rows of this.repository.readAll()) {
      const events = await this.repository.findEvents([...new Set(rows.map(({ run }) => run.run_id))]);
      const newest = new Map(events.map((event) => [keyOf(event.target_id, event.action), event]));
      const deleted = await bounds.findDeletionBound();
      for (const read of rows) {
        const { run_id, part } = read.run;
        const message = findFault(read, newest.get(keyOf(run_id, STEPS[part] ?? '')), deleted, bounds.first);
        if (message !== undefined) faults.add(run_id, message);
      }
    }
    for (const id of await this.repository.findInvalidRunIds()) faults.add(id, INVALID_FORM);
  }
}

const INVALID_FORM = 'is an import with a record in a format that the service does not write: it was changed';
const keyOf = (run: string, action: string): string => `${run} ${action}`;

function findFault(
  { run, isIntact }: ReadRun,
  event: RunEvent | undefined,
  deleted: string,
  first: string,
): string | undefined {
  if (!isIntact || !(run.part in STEPS) || !isEventId(run.run_id)) return INVALID_FORM;
  if (event?.actor_kind === run.person_kind && event.actor_id === run.person_id) return undefined;
  if (event) return `is an import whose record and event differ about who ${run.part} it`;
  if (run.run_id < deleted || run.run_id < first) return undefined;
  return `is an import with a record of who ${run.part} it, but without a matching event`;
}
