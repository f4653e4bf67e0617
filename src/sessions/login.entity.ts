import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ascii, int, text, time, uuid } from '../platform/database/engine/columns.js';

/**
 * Failed logins in the current window of one scope. A scope is the SHA-256 of a user and an
 * address, of a user, or of an address.
 */
@Entity('login_failures', { withoutRowid: true })
@Index('ix_login_failures_window', ['window_ends'])
export class LoginFailureEntity {
  @PrimaryColumn(ascii(64)) scope!: string;
  @Column(int()) failures!: number;
  @Column(time()) window_ends!: string;
}

/** A network from which a user has logged in: an IPv4 address, or the /64 of an IPv6 address. */
@Entity('login_addresses', { withoutRowid: true })
@Index('ix_login_addresses_last', ['last_login'])
export class LoginAddressEntity {
  @PrimaryColumn(uuid()) user_uuid!: string;
  @PrimaryColumn(text(64)) network!: string;
  /** Precise to one day, so that most logins do not write it. */
  @Column(time()) last_login!: string;
}
