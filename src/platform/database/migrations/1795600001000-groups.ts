import { int, longText, text, time, uuid } from '../engine/columns.js';
import { TableMigration, column, key, optional } from './table-migration.js';

/** Groups, their members and their roles (ADR 25). */
export class Groups1795600001000 extends TableMigration {
  readonly tables = [
    {
      name: 'user_groups', // not `groups`, which is a reserved word of MySQL
      columns: [
        column('uuid', uuid(), key),
        column('display_name', text(255)),
        column('display_name_key', text(255)),
        column('external_id', text(255), optional),
        column('roles', longText(), optional),
        column('created', time()),
        column('updated', time()),
        column('version', int()),
      ],
      indices: [
        { name: 'uq_user_groups_name', columnNames: ['display_name_key'], isUnique: true },
        { name: 'uq_user_groups_external_id', columnNames: ['external_id'], isUnique: true },
        { name: 'ix_user_groups_created', columnNames: ['created', 'uuid'] },
        { name: 'ix_user_groups_updated', columnNames: ['updated', 'uuid'] },
      ],
    },
    {
      name: 'group_members',
      withoutRowid: true,
      columns: [column('group_uuid', uuid(), key), column('user_uuid', uuid(), key)],
      indices: [{ name: 'ix_group_members_user', columnNames: ['user_uuid', 'group_uuid'] }],
    },
  ];
}
