import type { MigrationInterface, QueryRunner } from 'typeorm';
import { bool } from '../engine/columns.js';
import { addColumnOnce, defineColumn } from './table-migration.js';

/** Adds the flag of users who must replace a generated password. */
export class GeneratedPasswords1795600011000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await addColumnOnce(queryRunner, 'users', defineColumn('password_change_required', bool()));
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    if (await queryRunner.hasColumn('users', 'password_change_required'))
      await queryRunner.dropColumn('users', 'password_change_required');
  }
}
