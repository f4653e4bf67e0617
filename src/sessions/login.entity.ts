import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ascii, int, time, uuid } from '../platform/database/engine/columns.js';

/**
 * The failed logins in the current window of one scope. The scope is a user on a network, a user on all networks, a
 * network, a device, or all devices of a user. It is stored as a SHA-256 hash.
 */
@Entity('login_failures', { withoutRowid: true })
@Index('ix_login_failures_window', ['window_ends'])
export class LoginFailureEntity {
  @PrimaryColumn(ascii(64)) scope!: string;
  @Column(int()) failures!: number;
  @Column(time()) window_ends!: string;
}

/** A browser that has signed in as a user, and keeps a device cookie. */
@Entity('login_devices', { withoutRowid: true })
@Index('ix_login_devices_user', ['user_uuid'])
@Index('ix_login_devices_expires', ['expires'])
export class LoginDeviceEntity {
  /** SHA-256 of the token in the device cookie. */
  @PrimaryColumn(ascii(64)) token_hash!: string;
  @Column(uuid()) user_uuid!: string;
  /** 180 days after the last login with this browser. */
  @Column(time()) expires!: string;
}
