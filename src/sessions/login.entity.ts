import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ascii, int, text, time, uuid } from '../platform/database/engine/columns.js';

/**
 * The failed logins in the current window of one scope. The scope is a user on a network, a user on all networks, or a
 * network. It is stored as a SHA-256 hash.
 */
@Entity('login_failures', { withoutRowid: true })
@Index('ix_login_failures_window', ['window_ends'])
export class LoginFailureEntity {
  @PrimaryColumn(ascii(64)) scope!: string;
  @Column(int()) failures!: number;
  @Column(time()) window_ends!: string;
}

/** A network from which a user has logged in: an IPv4 address, or the first 64 bits of an IPv6 address. */
@Entity('login_addresses', { withoutRowid: true })
@Index('ix_login_addresses_last', ['last_login'])
export class LoginAddressEntity {
  @PrimaryColumn(uuid()) user_uuid!: string;
  @PrimaryColumn(text(64)) network!: string;
  /** Time of the last login from this network. Updated at most once a day, so that most logins do not write it. */
  @Column(time()) last_login!: string;
}
