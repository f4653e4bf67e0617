import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { type JsonText, toJson } from '../../platform/common/json.js';
import { ascii, flag, integer, longText, text, time, uuid } from '../../platform/database/engine/columns.js';
import type { ChangesText } from '../../platform/common/field-changes.js';
import { ImportOptions, type NamedProfile } from './import-options.js';
import type { Counts, RowError, StagedOutcome } from './import-row.js';
import type { Guard } from './guard-limits.js';
import type { Reason, RunState } from './run-states.js';

/** An import: one file, one plan, one outcome. The id is a UUID of version 7, so that its order is the order of arrival. */
@Entity('import_runs')
@Index('ix_import_runs_state', ['state', 'id'])
@Index('ix_import_runs_dataset', ['dataset', 'state', 'id'])
@Index('ix_import_runs_reverts', ['reverts', 'id'])
export class ImportRunEntity {
  @PrimaryColumn(uuid()) id = '';
  @Column(ascii(24)) state: RunState = 'queued';
  @Column(flag()) dry_run = 0;
  @Column(text(64)) dataset = '';
  /** The part of the data set that the file is; null where its files have no parts. */
  @Column({ ...text(64), nullable: true }) part: string | null = null;
  @Column(longText()) options: JsonText<ImportOptions> = toJson(new ImportOptions());
  /** The profile of the file, as it was when the run was made. */
  @Column({ ...longText(), nullable: true }) profile: JsonText<NamedProfile> | null = null;
  /** The run that this one undoes; null for a file. */
  @Column({ ...uuid(), nullable: true }) reverts: string | null = null;
  @Column(text(255)) file_name = '';
  /** Bytes. */
  @Column(integer()) file_size = 0;
  @Column(ascii(64)) file_sha256 = '';

  @Column(ascii(16)) actor_kind = '';
  @Column({ ...uuid(), nullable: true }) actor_id: string | null = null;
  @Column(ascii(64)) request_id = '';
  @Column(text(64)) ip = '';
  @Column(time()) created = '';
  @Column({ ...time(), nullable: true }) started: string | null = null;
  @Column({ ...time(), nullable: true }) finished: string | null = null;
  /** When operators were alerted that the run waits for them. */
  @Column({ ...time(), nullable: true }) alerted: string | null = null;

  /** `percent` of the rows. */
  @Column(integer()) rows_done = 0;
  /** Rows of the file; null until it has been read to its end. */
  @Column({ ...integer(), nullable: true, default: null }) rows_total: number | null = null;
  /** Share of the whole run, 0 to 100. */
  @Column(integer()) percent = 0;
  /** `percent` where the current phase began. */
  @Column(integer()) phase_percent = 0;
  /** When the current phase began. */
  @Column({ ...time(), nullable: true }) phase_started: string | null = null;

  @Column({ ...longText(), nullable: true }) counts: JsonText<Counts> | null = null;
  @Column(integer()) missing_reported = 0;
  @Column(integer()) missing_blocked = 0;
  @Column({ ...longText(), nullable: true }) guards: JsonText<Guard[]> | null = toJson<Guard[]>([]);
  /** Why the file was refused. */
  @Column({ ...longText(), nullable: true }) reason: JsonText<Reason> | null = null;
  /** The header of the file, where rows of it have failed. */
  @Column({ ...longText(), nullable: true }) header: JsonText<string[]> | null = toJson<string[]>([]);
  /** 1: the last line of the file has a line end; null until the file has been read to its end. */
  @Column({ ...integer(), nullable: true, default: null }) line_ended: number | null = null;
  /** SHA-256 of the plan, by which a second planning is compared with the first. */
  @Column({ ...ascii(64), nullable: true }) plan_hash: string | null = null;

  /** Batches of the plan, numbered from 1, and how many of them have been applied. */
  @Column(integer()) batches = 0;
  @Column(integer()) applied_batches = 0;
  /** 1: an operator has approved the plan. */
  @Column(flag()) approved = 0;
  /** Who did: the run has their rights too. */
  @Column({ ...ascii(16), nullable: true }) approver_kind: string | null = null;
  @Column({ ...uuid(), nullable: true }) approver_id: string | null = null;
  /** 1: an operator has asked for the run to stop. */
  @Column(flag()) cancel = 0;
}

/** A row of a file and its outcome. Unchanged rows are counted and not kept; users missing in the file have negative lines. */
@Entity('import_rows', { withoutRowid: true })
@Index('ix_import_rows_batch', ['run_id', 'batch', 'line'])
@Index('ix_import_rows_outcome', ['run_id', 'outcome', 'line'])
@Index('ix_import_rows_code', ['run_id', 'code', 'line'])
@Index('ix_import_rows_external_id', ['run_id', 'external_id', 'line'])
export class ImportRowEntity {
  @PrimaryColumn(uuid()) run_id!: string;
  @PrimaryColumn({ ...integer() }) line!: number;
  @Column(ascii(16)) outcome!: StagedOutcome;
  /** Code of the first error or warning; empty for none. */
  @Column(ascii(32)) code!: string;
  @Column(text(255)) external_id!: string;
  @Column({ ...uuid(), nullable: true }) user_uuid!: string | null;
  /** Version of the user that the plan was made for; 0 for a new one. */
  @Column(integer()) version!: number;
  /** The batch that applies the row; 0 for none. */
  @Column(integer()) batch!: number;
  @Column(longText()) changes!: ChangesText;
  @Column(longText()) errors!: JsonText<RowError[]>;
  /** The cells of a failed row, as they are in the file. */
  @Column({ ...longText(), nullable: true }) cells!: JsonText<string[]> | null;
}

/** The uploaded file, so that every instance can read it and a backup of the database holds it. */
@Entity('import_file_parts', { withoutRowid: true })
export class ImportFilePartEntity {
  @PrimaryColumn(uuid()) run_id!: string;
  /** From 0. */
  @PrimaryColumn({ ...integer() }) part!: number;
  /** Base64. */
  @Column(longText()) bytes!: string;
}
