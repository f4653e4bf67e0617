import { Column, Entity, PrimaryColumn } from 'typeorm';
import { int, uuid } from '../engine/columns.js';

/** Identity of the database, in its only row. */
@Entity('installation', { withoutRowid: true })
export class InstallationEntity {
  /** A random id, which a backup keeps. */
  @PrimaryColumn(uuid()) id!: string;
  /** Number of times that the database went back to an earlier state. */
  @Column(int()) epoch!: number;
}
