import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { JsonText } from '../../platform/common/json.js';
import { longText, text, time, uuid } from '../../platform/database/engine/columns.js';
import type { ImportProfile } from '../runs/import-profile.js';

/** A saved profile. Each run stores its own copy, so later changes do not affect the run. */
@Entity('import_profiles', { withoutRowid: true })
export class ImportProfileEntity {
  @PrimaryColumn(text(64)) name!: string;
  /** Identifies the profile in audit events. */
  @Column(uuid()) id!: string;
  @Column(longText()) document!: JsonText<ImportProfile>;
  @Column(time()) created!: string;
  @Column(time()) updated!: string;
}
