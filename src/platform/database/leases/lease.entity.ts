import { Column, Entity, PrimaryColumn } from 'typeorm';
import { ascii, time, uuid } from '../engine/columns.js';

/** Lease: the right of one instance to do one kind of work. Each heartbeat of this instance changes `until`. */
@Entity('leases', { withoutRowid: true })
export class LeaseEntity {
  @PrimaryColumn(ascii(32)) name!: string;
  @Column(uuid()) owner!: string;
  @Column(time()) until!: string;
}
