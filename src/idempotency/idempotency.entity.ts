import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ascii, longText, time } from '../platform/database/engine/columns.js';

/** The stored response to an unsafe request with an `Idempotency-Key`. It is retained for 24 hours. */
@Entity('idempotent_requests', { withoutRowid: true })
@Index('ix_idempotent_requests_created', ['created'])
export class IdempotencyEntity {
  /** SHA-256 of the credential of the client and the `Idempotency-Key`. */
  @PrimaryColumn(ascii(64)) id!: string;
  /**
   * HMAC of the request, with the `Idempotency-Key` as secret. The `Idempotency-Key` is not stored, so a password in
   * the request body cannot be guessed from the HMAC.
   */
  @Column(ascii(64)) request_mac!: string;
  @Column(longText()) answer!: string;
  @Column(time()) created!: string;
}
