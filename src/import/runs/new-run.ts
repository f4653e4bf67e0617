import type { Caller } from '../../access/actor.js';
import { now } from '../../common/time.js';
import type { StoredFile } from '../file/import-store.js';
import type { ImportOptions } from './import-options.js';
import type { ImportRun } from './import-run.js';

/** A run before its turn. */
export function newRun(file: Omit<StoredFile, 'parts'>, options: ImportOptions, caller: Caller): ImportRun {
  return {
    id: file.runId,
    state: 'queued',
    dryRun: options.dry_run,
    dataset: options.dataset,
    options,
    reverts: null,
    file: { name: file.name, size: file.size, sha256: file.sha256 },
    caller,
    created: now(),
    started: null,
    finished: null,
    rowsDone: 0,
    rowsTotal: null,
    percent: 0,
    phaseStarted: null,
    counts: null,
    missing: { reported: 0, blocked: 0 },
    guards: [],
    reason: null,
    header: [],
    planHash: null,
    batches: 0,
    appliedBatches: 0,
    approved: false,
    cancel: false,
  };
}
