import { int, longText, text, time, uuid } from '../engine/columns.js';
import { TableMigration, key, optional } from './table-migration.js';

/** Groups, their members and their roles (ADR 25). */
export class Groups1795600021000 extends TableMigration {
  readonly tables = {
    // `groups` would be a reserved word of MySQL
    user_groups: {
      columns: {
        uuid: key(uuid()),
        display_name: text(255),
        display_name_key: text(255),
        external_id: optional(text(255)),
        roles: optional(longText()),
        created: time(),
        updated: time(),
        version: int(),
      },
      unique: { uq_user_groups_name: ['display_name_key'], uq_user_groups_external_id: ['external_id'] },
      indices: { ix_user_groups_created: ['created', 'uuid'], ix_user_groups_updated: ['updated', 'uuid'] },
    },
    group_members: {
      withoutRowid: true,
      columns: { group_uuid: key(uuid()), user_uuid: key(uuid()) },
      indices: { ix_group_members_user: ['user_uuid', 'group_uuid'] },
    },
  };
}
