import { ApiKeyEntity } from '../../../src/api-keys/api-key.entity.js';
import { sha256 } from '../../../src/platform/common/secrets.js';
import { now } from '../../../src/platform/common/time.js';
import { loadEnv } from '../../../src/platform/config/env.js';
import { insertRows } from '../../../src/platform/database/engine/sql.js';
import { migrateAtStart } from '../../../src/platform/database/data-source.js';
import { ENTITIES } from '../../../src/entities.js';
import { type Database, openDatabase } from '../../../src/platform/database/engine/database.js';
import { PASSWORD_HASH } from './password.js';
import { insertUsers } from '../../../test/support/data/insert-users.js';
import { KEY } from '../../servers.js';
import { KEY_ID, personOf } from './person.js';

/** Users per transaction. */
const CHUNK = 1000;

/** Migrates and opens a database. */
async function openMigrated(url: string): Promise<Database> {
  const env = loadEnv({ DATABASE_URL: url, MIGRATE_ON_START: 'true' });
  await migrateAtStart(env, ENTITIES);
  return openDatabase(env);
}

/** Creates the tables of a database. */
export async function createTables(url: string): Promise<void> {
  await (await openMigrated(url)).close();
}

/** Fills a database with the API key and `count` users, numbered from 0, in all tables of the user writer. */
export async function seed(url: string, count: number): Promise<void> {
  const engine = await openMigrated(url);
  try {
    const key = {
      id: KEY_ID,
      key_hash: sha256(KEY),
      name: 'bench',
      created: now(),
      expires: null,
      revoked: null,
      last_used: null,
      scopes: null,
      networks: null,
      ignores_unknown_fields: 0,
      maker_kind: 'system',
      maker_id: null,
      last_address: null,
      profile: null,
    };
    await insertRows(engine, ApiKeyEntity, [key]);
    for (let from = 0; from < count; from += CHUNK) {
      const length = Math.min(CHUNK, count - from);
      const users = Array.from({ length }, (_, index) => personOf(from + index, PASSWORD_HASH));
      const tx = await engine.begin();
      await insertUsers(tx, users);
      await tx.commit();
    }
  } finally {
    await engine.close();
  }
}
