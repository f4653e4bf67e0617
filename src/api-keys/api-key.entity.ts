import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { KeyProfile, Scope } from '../access/actor.js';
import type { JsonText } from '../platform/common/json.js';
import { ascii, bool, longText, text, time, uuid } from '../platform/database/engine/columns.js';

@Entity('api_keys')
@Index('uq_api_keys_hash', ['key_hash'], { unique: true })
export class ApiKeyEntity {
  @PrimaryColumn(uuid()) id!: string;
  /** SHA-256 of the complete API key. The key itself is not stored. */
  @Column(ascii(64)) key_hash!: string;
  @Column(text(255)) name!: string;
  @Column(time()) created!: string;
  @Column({ ...time(), nullable: true }) expires!: string | null;
  @Column({ ...time(), nullable: true }) revoked!: string | null;
  /** Time at which the key was last used, precise to one minute. */
  @Column({ ...time(), nullable: true }) last_used!: string | null;
  /** Null if the key has all permissions of a Webmaster. Never updated, because a key must not gain rights. */
  @Column({ ...longText(), nullable: true }) scopes!: JsonText<Scope[]> | null;
  /** Null if the key can be used from any network. */
  @Column({ ...longText(), nullable: true }) networks!: JsonText<string[]> | null;
  @Column(bool()) ignores_unknown_fields!: number;
  /** Kind of the actor that created the key. */
  @Column(ascii(10)) maker_kind!: string;
  /** Uuid of the user, or id of the key, that created this key. Null if the service or its command line did. */
  @Column({ ...uuid(), nullable: true }) maker_id!: string | null;
  @Column({ ...text(64), nullable: true }) last_address!: string | null;
  /** Null for the profile `standard`. Never updated. */
  @Column({ ...ascii(16), nullable: true }) profile!: KeyProfile | null;
}

/**
 * A user that an API key has blocked. Rows are never updated, so that concurrent changes do not wait for each other.
 */
@Entity('key_deactivations', { withoutRowid: true })
@Index('ix_key_deactivations_time', ['time'])
export class KeyDeactivationEntity {
  @PrimaryColumn(uuid()) key_id!: string;
  @PrimaryColumn(time()) time!: string;
  @PrimaryColumn(uuid()) user_uuid!: string;
}

/** The state of a key's fuse. A key has a row only after its fuse has blown or was reset. */
@Entity('key_fuses', { withoutRowid: true })
export class KeyFuseEntity {
  @PrimaryColumn(uuid()) key_id!: string;
  /** Time at which the fuse last blew. Null if the fuse was reset since then. */
  @Column({ ...time(), nullable: true }) blown!: string | null;
  /** Until this time, the key may block any number of users. These users do not count afterwards. */
  @Column({ ...time(), nullable: true }) open_until!: string | null;
}
