import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ascii, integer, time } from '../platform/database/engine/columns.js';

/** Failed logins in the running window of one scope: SHA-256 of (user, address), of a user or of an address. */
@Entity('login_failures', { withoutRowid: true })
@Index('ix_login_failures_window', ['window_ends'])
export class LoginFailureEntity {
  @PrimaryColumn(ascii(64)) scope!: string;
  @Column(integer()) failures!: number;
  @Column(time()) window_ends!: string;
}
