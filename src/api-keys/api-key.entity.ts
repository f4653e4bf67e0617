import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ascii, text, time, uuid } from '../database/engine/columns.js';

@Entity('api_keys')
@Index('uq_api_keys_hash', ['key_hash'], { unique: true })
export class ApiKeyEntity {
  @PrimaryColumn(uuid()) id!: string;
  /** SHA-256 of the whole key. */
  @Column(ascii(64)) key_hash!: string;
  @Column(text(255)) name!: string;
  @Column(time()) created!: string;
  @Column({ ...time(), nullable: true }) expires!: string | null;
  @Column({ ...time(), nullable: true }) revoked!: string | null;
  /** To the minute. */
  @Column({ ...time(), nullable: true }) last_used!: string | null;
}
