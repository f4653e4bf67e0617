import { Column, Entity, PrimaryColumn } from 'typeorm';
import { ascii, integer, text, uuid } from '../../platform/database/engine/columns.js';

/** What must be unique: `login:<key>`, `external_id:<value>`, `authname:<method>:<value>`. The primary key judges races. */
@Entity('user_identifiers', { withoutRowid: true })
export class UserIdentifierEntity {
  @PrimaryColumn(text(320)) identifier!: string;
  @Column(uuid()) user_uuid!: string;
}

/** The roles of a user, its own and those of its groups. No index by user: the writer knows the rows of the user that it changes (ADR 17). */
@Entity('user_roles', { withoutRowid: true })
export class UserRoleEntity {
  @PrimaryColumn(text(64)) role!: string;
  @PrimaryColumn(uuid()) user_uuid!: string;
}

/**
 * Folded search words of a user, with the weight of the best field that holds them. No index by user, as above: who changes
 * what `wordRows` makes of a user must write a migration that makes all rows anew.
 */
@Entity('user_words', { withoutRowid: true })
export class UserWordEntity {
  @PrimaryColumn(text(255)) word!: string;
  @PrimaryColumn(uuid()) user_uuid!: string;
  @Column(integer()) weight!: number;
  /** The same without fields that the user hides from other users; 0 when only such a field holds the word. */
  @Column(integer()) public_weight!: number;
}

/**
 * Attributes of users by which identity providers look for them (`values.ts`). No index by user, as above: who changes what
 * `valueRows` makes of a user must write a migration that makes all rows anew.
 */
@Entity('user_values', { withoutRowid: true })
export class UserValueEntity {
  @PrimaryColumn(ascii(32)) attribute!: string;
  @PrimaryColumn(text(255)) value_key!: string;
  @PrimaryColumn(uuid()) user_uuid!: string;
}

/** What a change has added to a total: `Active`, `Blocked`, `webmasters`. The total is the sum of all rows of a name. */
@Entity('user_counts', { withoutRowid: true })
export class UserCountEntity {
  @PrimaryColumn(uuid()) id!: string;
  @Column(ascii(32)) name!: string;
  @Column(integer()) value!: number;
}

/** A rule over several users, and how many changes it has judged: each of them writes the row, so that they take turns. */
@Entity('user_rules', { withoutRowid: true })
export class UserRuleEntity {
  @PrimaryColumn(ascii(32)) name!: string;
  @Column(integer()) changes!: number;
}
