import { jest } from '@jest/globals';
import type { Database } from '../../../src/platform/database/engine/database.js';

/** Runs `work` while the counts of broad searches never end unless they are aborted. */
export async function withEndlessCount<T>(database: Database, work: () => Promise<T>): Promise<T> {
  const aside = database.scan.bind(database);
  const counting = jest.spyOn(database, 'scan').mockImplementation((sql, params, signal) => {
    if (!sql.startsWith('SELECT COUNT(*) AS n FROM users u')) return aside(sql, params, signal);
    return new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => {
        reject(signal.reason as Error);
      });
    });
  });
  try {
    return await work();
  } finally {
    counting.mockRestore();
  }
}
