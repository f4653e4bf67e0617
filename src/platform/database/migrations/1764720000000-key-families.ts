import { type MigrationInterface, type QueryRunner, TableColumn } from 'typeorm';
import { dropCollation, uuid } from '../engine/columns.js';
import { column, optional } from './table-columns.js';

const TABLE = 'api_keys';
const COLUMN = column('family_id', uuid(), optional);

interface StoredKey {
  id: string;
  scopes: string | null;
  maker_kind: string | null;
  maker_id: string | null;
  family_id: string | null;
}

/** The first of the limited keys that have made one another, whose fuse they share (ADR 20). */
export class KeyFamilies1764720000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    if (!(await queryRunner.hasColumn(TABLE, COLUMN.name))) {
      const added = new TableColumn(COLUMN);
      if (queryRunner.dataSource.options.type === 'better-sqlite3') dropCollation(added);
      await queryRunner.addColumn(TABLE, added);
    }
    // Makers come first: the order of the ids is that of time. A killed attempt may have done some of them.
    const keys = (await queryRunner.query(
      `SELECT id, scopes, maker_kind, maker_id, family_id FROM ${TABLE} ORDER BY id`,
    )) as StoredKey[];
    const families = new Map<string, string>();
    for (const { id, scopes, maker_kind, maker_id, family_id } of keys) {
      const inherited = maker_kind === 'key' ? families.get(maker_id ?? '') : undefined;
      const family = inherited ?? id;
      if (scopes !== null) families.set(id, family);
      if (family_id !== family)
        await queryRunner.query(`UPDATE ${TABLE} SET family_id = ? WHERE id = ?`, [family, id]);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    if (await queryRunner.hasColumn(TABLE, COLUMN.name)) await queryRunner.dropColumn(TABLE, COLUMN.name);
  }
}
