import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { KeyProfile, Scope } from '../access/actor.js';
import type { JsonText } from '../platform/common/json.js';
import { ascii, bool, longText, text, time, uuid } from '../platform/database/engine/columns.js';

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
  /** Time of the last use, precise to one minute. */
  @Column({ ...time(), nullable: true }) last_used!: string | null;
  /**
   * Null for the full Webmaster level. Scopes and networks are never updated, because the rights of a key must not
   * grow.
   */
  @Column({ ...longText(), nullable: true }) scopes!: JsonText<Scope[]> | null;
  /** Null for any network. */
  @Column({ ...longText(), nullable: true }) networks!: JsonText<string[]> | null;
  @Column(bool()) ignores_unknown_fields!: number;
  /** The kind of the actor that created the key. null for keys of earlier versions. */
  @Column({ ...ascii(10), nullable: true }) maker_kind!: string | null;
  /** The uuid of the user, or the id of the key, that created this key. null for the service and its command line. */
  @Column({ ...uuid(), nullable: true }) maker_id!: string | null;
  /** The client address at the time of `last_used`. */
  @Column({ ...text(64), nullable: true }) last_address!: string | null;
  /** Null for `standard`. Never updated, like `scopes`. */
  @Column({ ...ascii(16), nullable: true }) profile!: KeyProfile | null;
}

/** A user that a key has blocked. Rows are only inserted, so that concurrent changes never wait for the same row. */
@Entity('key_deactivations', { withoutRowid: true })
@Index('ix_key_deactivations_time', ['time'])
export class KeyDeactivationEntity {
  @PrimaryColumn(uuid()) key_id!: string;
  @PrimaryColumn(time()) time!: string;
  @PrimaryColumn(uuid()) user_uuid!: string;
}

/** The state of a fuse that has blown at least once. */
@Entity('key_fuses', { withoutRowid: true })
export class KeyFuseEntity {
  @PrimaryColumn(uuid()) key_id!: string;
  /** The time at which the fuse last blew. null after a reset. */
  @Column({ ...time(), nullable: true }) blown!: string | null;
  /** Until this time the key may block any number of users, and blocks before this time are not counted. */
  @Column({ ...time(), nullable: true }) open_until!: string | null;
}
