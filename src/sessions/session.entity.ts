import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ascii, text, time, uuid } from '../platform/database/engine/columns.js';

@Entity('sessions')
@Index('uq_sessions_token', ['token_hash'], { unique: true })
@Index('ix_sessions_user', ['user_uuid'])
@Index('ix_sessions_expires', ['expires'])
export class SessionEntity {
  @PrimaryColumn(uuid()) id!: string;
  /** SHA-256 of the cookie value. The cookie value itself is stored only by the browser. */
  @Column(ascii(64)) token_hash!: string;
  @Column(uuid()) user_uuid!: string;
  @Column(time()) created!: string;
  /**
   * Time at which the session ends unless it is used before. A request extends this time, but only after half of the
   * idle time has passed.
   */
  @Column(time()) expires!: string;
  @Column(time()) absolute_expires!: string;
  @Column(text(64)) ip!: string;
  /** Time of the last confirmation with the password. Null before the first confirmation after the login. */
  @Column({ ...time(), nullable: true }) confirmed!: string | null;
}
