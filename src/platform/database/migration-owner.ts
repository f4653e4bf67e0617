import { type DataSource, MigrationExecutor } from 'typeorm';

/**
 * Tables that are there before the first migration has done anything, and whatever became of it. The names of the others, such
 * as `users`, may be those of any program.
 */
const OF_MIGRATIONS = ['migrations', 'migration_lease'];

/**
 * The database must be empty, or this program's.
 * @throws Error for tables of another program: a mistyped name must not add ours to them; and for a schema of a newer
 * version: an older one must not write into tables whose rules it does not know.
 */
export async function assertOurs(dataSource: DataSource): Promise<void> {
  const known = new Set(dataSource.migrations.map(({ name, constructor }) => name ?? constructor.name));
  const runner = dataSource.createQueryRunner();
  try {
    const tables = await tableNames(dataSource);
    if (tables.length > 0 && !tables.some((name) => OF_MIGRATIONS.includes(name)))
      throw new Error(
        `The database belongs to another program (it has the table ${tables[0]}). Check DATABASE_URL.`,
      );
    const executed = await new MigrationExecutor(dataSource, runner).getExecutedMigrations();
    const newer = executed.find(({ name }) => !known.has(name));
    if (newer)
      throw new Error(
        `The database is that of a newer program (it has the migration ${newer.name}). Start that one, or restore a backup.`,
      );
  } finally {
    await runner.release();
  }
}

async function tableNames(dataSource: DataSource): Promise<string[]> {
  const sql =
    dataSource.options.type === 'better-sqlite3'
      ? "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
      : 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY table_name';
  return (await dataSource.query<{ name: string }[]>(sql)).map(({ name }) => name);
}
