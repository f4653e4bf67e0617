import { int, longText, text, time, uuid } from '../engine/columns.js';
import { TableMigration, defineColumn, key, optional } from './table-migration.js';

/** Groups, their members and their roles (ADR 25). */
export class Groups1795600021000 extends TableMigration {
  readonly tables = [
    {
      name: 'user_groups', // not `groups`, which is a reserved word of MySQL
      columns: [
        defineColumn('uuid', uuid(), key),
        defineColumn('display_name', text(255)),
        defineColumn('display_name_key', text(255)),
        defineColumn('external_id', text(255), optional),
        defineColumn('roles', longText(), optional),
        defineColumn('created', time()),
        defineColumn('updated', time()),
        defineColumn('version', int()),
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
      columns: [defineColumn('group_uuid', uuid(), key), defineColumn('user_uuid', uuid(), key)],
      indices: [{ name: 'ix_group_members_user', columnNames: ['user_uuid', 'group_uuid'] }],
    },
  ];
}
