import { Column, Entity, PrimaryColumn } from 'typeorm';
import { ascii, int, text, uuid } from '../../platform/database/engine/columns.js';

/**
 * An identifier of a user: `login:<key>`, `external_id:<value>` or `authname:<method>:<value>`. The primary key keeps
 * concurrent transactions from giving one identifier to two users.
 */
@Entity('user_identifiers', { withoutRowid: true })
export class UserIdentifierEntity {
  @PrimaryColumn(text(320)) identifier!: string;
  @Column(uuid()) user_uuid!: string;
}

/**
 * A role of a user, including roles from groups. There is no index by user, because the writer knows which rows a
 * change replaces (ADR 17).
 */
@Entity('user_roles', { withoutRowid: true })
export class UserRoleEntity {
  @PrimaryColumn(text(64)) role!: string;
  @PrimaryColumn(uuid()) user_uuid!: string;
}

/**
 * A folded search word of a user, with its highest weight in any field. The writer finds outdated rows by calling
 * `toWordRows` for the old user, not with an index by user (see `UserRoleEntity`). A change of `toWordRows` therefore
 * needs a migration that rebuilds all rows.
 */
@Entity('user_words', { withoutRowid: true })
export class UserWordEntity {
  @PrimaryColumn(text(255)) word!: string;
  @PrimaryColumn(uuid()) user_uuid!: string;
  @Column(int()) weight!: number;
  /** Highest weight in the fields that other users can see. 0 if only hidden fields contain the word. */
  @Column(int()) public_weight!: number;
}

/**
 * An attribute by which identity providers search for users. The writer finds outdated rows by calling `toValueRows`
 * for the old user, not with an index by user (see `UserRoleEntity`). A change of `toValueRows` therefore needs a
 * migration that rebuilds all rows.
 */
@Entity('user_values', { withoutRowid: true })
export class UserValueEntity {
  @PrimaryColumn(ascii(32)) attribute!: string;
  @PrimaryColumn(text(255)) value_key!: string;
  @PrimaryColumn(uuid()) user_uuid!: string;
}

/**
 * A difference that a change adds to the counter `Active`, `Blocked` or `webmasters`. The value of a counter is the sum
 * of its rows.
 */
@Entity('user_counts', { withoutRowid: true })
export class UserCountEntity {
  @PrimaryColumn(uuid()) id!: string;
  @Column(ascii(32)) name!: string;
  @Column(int()) value!: number;
}

/**
 * A set rule, with a count of the changes that it concerned. Each of these changes updates the row, which serializes
 * them.
 */
@Entity('user_rules', { withoutRowid: true })
export class UserRuleEntity {
  @PrimaryColumn(ascii(32)) name!: string;
  @Column(int()) changes!: number;
}
