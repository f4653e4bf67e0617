import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { Profile, Scope } from '../access/actor.js';
import type { JsonText } from '../platform/common/json.js';
import { ascii, flag, longText, text, time, uuid } from '../platform/database/engine/columns.js';

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
  /** null: the full Webmaster level. Written once, like `networks`: a key never becomes wider. */
  @Column({ ...longText(), nullable: true }) scopes!: JsonText<Scope[]> | null;
  /** null: any network. */
  @Column({ ...longText(), nullable: true }) networks!: JsonText<string[]> | null;
  @Column(flag()) ignores_unknown_fields!: number;
  /** Kind of the actor that made it; null for keys of earlier versions. */
  @Column({ ...ascii(10), nullable: true }) maker_kind!: string | null;
  /** uuid of the user, or id of the key, that made it; null for the service and its command line. */
  @Column({ ...uuid(), nullable: true }) maker_id!: string | null;
  /** Of the use that `last_used` notes. */
  @Column({ ...text(64), nullable: true }) last_address!: string | null;
  /** null: `standard`. Written once, like `scopes`. */
  @Column({ ...ascii(16), nullable: true }) profile!: Profile | null;
}

/** A user that a key has blocked. Rows are only inserted, so that changes of different users share none. */
@Entity('key_deactivations', { withoutRowid: true })
@Index('ix_key_deactivations_time', ['time'])
export class KeyDeactivationEntity {
  @PrimaryColumn(uuid()) key_id!: string;
  @PrimaryColumn(time()) time!: string;
  @PrimaryColumn(uuid()) user_uuid!: string;
}

/** A key whose fuse has blown once. */
@Entity('key_fuses', { withoutRowid: true })
export class KeyFuseEntity {
  @PrimaryColumn(uuid()) key_id!: string;
  /** When it did; null after a reset. */
  @Column({ ...time(), nullable: true }) blown!: string | null;
  /** Until then nothing is refused, and nothing from before is counted. */
  @Column({ ...time(), nullable: true }) open_until!: string | null;
}
