import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { JsonText } from '../../platform/common/json.js';
import { longText, text, time, uuid } from '../../platform/database/engine/columns.js';
import type { ImportProfile } from '../runs/import-options.js';

/** A saved profile. Runs store their own copy. */
@Entity('import_profiles', { withoutRowid: true })
export class ImportProfileEntity {
  @PrimaryColumn(text(64)) name!: string;
  /** Id of the profile as a target in audit events. */
  @Column(uuid()) id!: string;
  @Column(longText()) document!: JsonText<ImportProfile>;
  @Column(time()) created!: string;
  @Column(time()) updated!: string;
}
