import { Column, Entity, PrimaryColumn } from 'typeorm';
import { ascii, time, uuid } from '../database/engine/columns.js';

/** Who may work on imports, or has fired a schedule: one owner at a time, until a time. */
@Entity('leases', { withoutRowid: true })
export class LeaseEntity {
  @PrimaryColumn(ascii(32)) name!: string;
  @Column(uuid()) owner!: string;
  @Column(time()) until!: string;
}
