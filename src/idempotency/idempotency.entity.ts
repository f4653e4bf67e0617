import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ascii, time, uuid } from '../database/engine/columns.js';

/** The answer to a `POST /users` that carried an `Idempotency-Key`, kept for 24 hours. */
@Entity('idempotency_keys', { withoutRowid: true })
@Index('ix_idempotency_keys_created', ['created'])
export class IdempotencyEntity {
  /** SHA-256 of credential and key. */
  @PrimaryColumn(ascii(64)) id!: string;
  /** HMAC of the body with the client's key, which is not stored: a password in the body cannot be guessed from it. */
  @Column(ascii(64)) body_mac!: string;
  @Column(uuid()) user_uuid!: string;
  @Column(time()) created!: string;
}
