import type { MigrationInterface, QueryRunner } from 'typeorm';
import { ascii } from '../engine/columns.js';
import { addColumns, column, dropColumns, optional } from './table-columns.js';

const PROFILE = [column('profile', ascii(16), optional)];

/** The identity provider for which a key was made; null for `standard`. */
export class KeyProfiles1764910000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await addColumns(queryRunner, 'api_keys', PROFILE);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await dropColumns(queryRunner, 'api_keys', PROFILE);
  }
}
