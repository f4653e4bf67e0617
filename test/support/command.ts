import type { TestDatabase } from './database.js';
import { Process, newcomer } from './process.js';

/** What a command said, and how it ended. */
export interface Told {
  code: number | null;
  out: string;
  err: string;
}

/** Runs a command of the command line to its end, on this database. */
export async function told(
  database: TestDatabase,
  args: readonly string[],
  settings: Record<string, string> = {},
  folder?: string,
): Promise<Told> {
  const command = Process.command(
    args,
    { ...newcomer(database), DATABASE_URL: database.url, ...settings },
    folder,
  );
  const { code } = await command.exit;
  return { code, out: command.out, err: command.err };
}
