import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { type JsonText, toJson } from '../../platform/common/json.js';
import { ascii, bool, int, longText, text, time, uuid } from '../../platform/database/engine/columns.js';
import type { Party } from '../../audit/audit-event.js';
import type { ChangesText } from '../../platform/common/field-changes.js';
import type { BulkChange } from './bulk-change.input.js';
import { RunOptions } from './import-options.js';
import type { NamedProfile } from './import-profile.js';
import type { Cause, Counts, RowError, StagedOutcome } from './import-row.js';
import type { Guard } from './import-guard.js';
import type { Reason, RunState } from './run-states.js';

/** An import run: one file, one plan, one result. Its id is a UUID of version 7, and newer runs have greater ids. */
@Entity('import_runs')
@Index('ix_import_runs_state', ['state', 'id'])
@Index('ix_import_runs_dataset', ['dataset', 'state', 'id'])
@Index('ix_import_runs_reverts', ['reverts', 'id'])
export class ImportRunEntity {
  @PrimaryColumn(uuid()) id = '';
  @Column(ascii(24)) state: RunState = 'queued';
  @Column(bool()) dry_run = 0;
  @Column(text(64)) dataset = '';
  /** Part of the data set that the file contains, or null for the whole data set. */
  @Column({ ...text(64), nullable: true }) part: string | null = null;
  @Column(longText()) options: JsonText<RunOptions> = toJson(new RunOptions());
  /** Copy of the profile from the time when the run was created. */
  @Column({ ...longText(), nullable: true }) profile: JsonText<NamedProfile> | null = null;
  /** Id of the run that this run reverts, or null if this run imports a file. */
  @Column({ ...uuid(), nullable: true }) reverts: string | null = null;
  /** Id of the run whose failed rows this run corrects, or null. */
  @Column({ ...uuid(), nullable: true }) corrects: string | null = null;
  /** Actors who sent the file, or null if the run has no file. */
  @Column({ ...longText(), nullable: true }) senders: JsonText<Party[]> | null = null;
  @Column(text(255)) file_name = '';
  @Column(int()) file_size = 0;
  @Column(ascii(64)) file_sha256 = '';

  @Column(ascii(16)) actor_kind = '';
  @Column({ ...uuid(), nullable: true }) actor_id: string | null = null;
  @Column(ascii(64)) request_id = '';
  @Column(text(64)) ip = '';
  @Column(time()) created = '';
  @Column({ ...time(), nullable: true }) started: string | null = null;
  @Column({ ...time(), nullable: true }) finished: string | null = null;
  /** Time of the alert that the run waits for approval or has ended early, or null before the alert. */
  @Column({ ...time(), nullable: true }) alerted: string | null = null;

  /** Number of processed rows, computed as `percent` of all rows. */
  @Column(int()) rows_done = 0;
  /** Number of rows of the file, or null until the whole file was read. */
  @Column({ ...int(), nullable: true, default: null }) rows_total: number | null = null;
  /** Progress of the whole run, 0 to 100. */
  @Column(int()) percent = 0;
  /** `percent` at the start of the current phase. */
  @Column(int()) phase_percent = 0;
  @Column({ ...time(), nullable: true }) phase_started: string | null = null;
  /** Seconds in which the run waited for decisions. */
  @Column(int()) waited_seconds: number = 0;

  @Column({ ...longText(), nullable: true }) counts: JsonText<Counts> | null = null;
  /** Number of new users in the plan whose status is Blocked. */
  @Column(int()) created_blocked: number = 0;
  @Column(int()) missing_reported = 0;
  @Column(int()) missing_blocked = 0;
  @Column({ ...longText(), nullable: true }) guards: JsonText<Guard[]> | null = toJson<Guard[]>([]);
  /** Failed rows that made other rows fail, with the number of these rows. Null until the run is planned. */
  @Column({ ...longText(), nullable: true }) causes: JsonText<Cause[]> | null = null;
  @Column({ ...longText(), nullable: true }) reason: JsonText<Reason> | null = null;
  /** Header of the file without private columns, for `failed.csv`. Empty or null unless rows have failed. */
  @Column({ ...longText(), nullable: true }) header: JsonText<string[]> | null = toJson<string[]>([]);
  /** Delimiter of the file, for `failed.csv`. Null unless rows have failed. */
  @Column({ ...ascii(1), nullable: true }) delimiter: string | null = null;
  /** 1 if the file ends with a line ending, otherwise 0. Null until the whole file was read. */
  @Column({ ...int(), nullable: true, default: null }) line_ended: number | null = null;
  /** SHA-256 hash of the plan. It reveals a different plan if the run is planned again. */
  @Column({ ...ascii(64), nullable: true }) plan_hash: string | null = null;

  /**
   * Words of this file and of earlier files that only `*` of the profile's values matches, by source column. Null if the
   * profile has no `*`.
   */
  @Column({ ...longText(), nullable: true }) words: JsonText<Record<string, readonly string[]>> | null = null;

  /** The bulk change of this run, or null for a file. A revert has the bulk change of the run that it reverts. */
  @Column({ ...longText(), nullable: true }) bulk: JsonText<BulkChange> | null = null;

  @Column(int()) batches = 0;
  @Column(int()) applied_batches = 0;
  /** 1 if an operator has approved the plan, otherwise 0. */
  @Column(bool()) approved = 0;
  /** Kind of the actor who approved the plan. The run needs the rights of this actor too. */
  @Column({ ...ascii(16), nullable: true }) approver_kind: string | null = null;
  @Column({ ...uuid(), nullable: true }) approver_id: string | null = null;
  /** 1 if an operator has requested that the run stops, otherwise 0. */
  @Column(bool()) cancel = 0;
}

/**
 * A row of a file with its outcome. Most unchanged rows are only counted, not stored. Missing users are stored as rows
 * with negative lines.
 */
@Entity('import_rows', { withoutRowid: true })
@Index('ix_import_rows_batch', ['run_id', 'batch', 'line'])
@Index('ix_import_rows_outcome', ['run_id', 'outcome', 'line'])
@Index('ix_import_rows_code', ['run_id', 'code', 'line'])
@Index('ix_import_rows_external_id', ['run_id', 'external_id', 'line'])
export class ImportRowEntity {
  @PrimaryColumn(uuid()) run_id!: string;
  @PrimaryColumn({ ...int() }) line!: number;
  @Column(ascii(16)) outcome!: StagedOutcome;
  @Column(ascii(32)) code!: string;
  @Column(text(255)) external_id!: string;
  @Column({ ...uuid(), nullable: true }) user_uuid!: string | null;
  @Column(int()) version!: number;
  @Column(int()) batch!: number;
  @Column(longText()) changes!: ChangesText;
  @Column(longText()) errors!: JsonText<RowError[]>;
  @Column({ ...longText(), nullable: true }) cells!: JsonText<string[]> | null;
  /** ExternalId of the manager, if the same file creates the manager. */
  @Column({ ...text(255), nullable: true }) manager!: string | null;
}

/**
 * A piece of an uploaded file. The database stores the pieces, so that every instance can read them and a backup
 * contains them.
 */
@Entity('import_file_parts', { withoutRowid: true })
export class ImportFilePartEntity {
  @PrimaryColumn(uuid()) run_id!: string;
  @PrimaryColumn({ ...int() }) part!: number;
  @Column(longText()) bytes!: string;
}
