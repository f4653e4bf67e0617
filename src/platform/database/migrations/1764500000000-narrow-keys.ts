import { type MigrationInterface, type QueryRunner, TableColumn } from 'typeorm';
import { ascii, dropCollation, flag, longText, text, uuid } from '../engine/columns.js';
import { column, optional } from './table-columns.js';

const TABLE = 'api_keys';

/** What a key may be limited to, who made it and from where it was used last. Existing keys keep full rights. */
const COLUMNS = [
  column('scopes', longText(), optional),
  column('networks', longText(), optional),
  column('ignores_unknown_fields', flag()),
  column('maker_kind', ascii(10), optional),
  column('maker_id', uuid(), optional),
  column('last_address', text(64), optional),
];

export class NarrowKeys1764500000000 implements MigrationInterface {
  /** A killed attempt may have added some columns: DDL is not transactional on MariaDB. */
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const options of COLUMNS) {
      if (await queryRunner.hasColumn(TABLE, options.name)) continue;
      const added = new TableColumn(options);
      if (queryRunner.dataSource.options.type === 'better-sqlite3') dropCollation(added);
      await queryRunner.addColumn(TABLE, added);
    }
  }

  /** Keys that were narrow must not become wide: they are revoked first. */
  async down(queryRunner: QueryRunner): Promise<void> {
    if (await queryRunner.hasColumn(TABLE, 'networks')) {
      await queryRunner.query(
        `UPDATE ${TABLE} SET revoked = created WHERE revoked IS NULL AND (scopes IS NOT NULL OR networks IS NOT NULL)`,
      );
    }
    for (const { name } of COLUMNS.toReversed()) {
      if (await queryRunner.hasColumn(TABLE, name)) await queryRunner.dropColumn(TABLE, name);
    }
  }
}
