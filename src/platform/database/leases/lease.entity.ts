import { Column, Entity, PrimaryColumn } from 'typeorm';
import { ascii, time, uuid } from '../engine/columns.js';

/** The right of one instance to do a kind of work until a time. */
@Entity('leases', { withoutRowid: true })
export class LeaseEntity {
  @PrimaryColumn(ascii(32)) name!: string;
  @Column(uuid()) owner!: string;
  @Column(time()) until!: string;
}
