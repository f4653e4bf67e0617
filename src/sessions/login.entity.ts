import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ascii, integer, text, time, uuid } from '../platform/database/engine/columns.js';

/** Failed logins in the running window of one scope: SHA-256 of (user, address), of a user or of an address. */
@Entity('login_failures', { withoutRowid: true })
@Index('ix_login_failures_window', ['window_ends'])
export class LoginFailureEntity {
  @PrimaryColumn(ascii(64)) scope!: string;
  @Column(integer()) failures!: number;
  @Column(time()) window_ends!: string;
}

/** A network from which a user has logged in: its IPv4 address, or its /64 of IPv6. */
@Entity('login_addresses', { withoutRowid: true })
@Index('ix_login_addresses_last', ['last_login'])
export class LoginAddressEntity {
  @PrimaryColumn(uuid()) user_uuid!: string;
  @PrimaryColumn(text(64)) network!: string;
  /** To the day: it is not written with every login. */
  @Column(time()) last_login!: string;
}
