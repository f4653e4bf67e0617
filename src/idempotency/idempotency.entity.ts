import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ascii, longText, time } from '../platform/database/engine/columns.js';

/** The answer to an unsafe request that carried an `Idempotency-Key`, kept for 24 hours. */
@Entity('idempotent_requests', { withoutRowid: true })
@Index('ix_idempotent_requests_created', ['created'])
export class IdempotencyEntity {
  /** SHA-256 of credential and key. */
  @PrimaryColumn(ascii(64)) id!: string;
  /** HMAC of the request with the client's key, which is not stored: a password in the body cannot be guessed from it. */
  @Column(ascii(64)) request_mac!: string;
  /** The answer, encrypted with the client's key (`sealed-answer.ts`). */
  @Column(longText()) answer!: string;
  @Column(time()) created!: string;
}
