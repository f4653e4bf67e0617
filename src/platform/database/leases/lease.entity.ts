import { Column, Entity, PrimaryColumn } from 'typeorm';
import { ascii, time, uuid } from '../engine/columns.js';

/** The owner of the work on imports, or of a schedule, until a time. */
@Entity('leases', { withoutRowid: true })
export class LeaseEntity {
  @PrimaryColumn(ascii(32)) name!: string;
  @Column(uuid()) owner!: string;
  @Column(time()) until!: string;
}
