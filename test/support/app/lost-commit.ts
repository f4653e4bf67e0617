import { jest } from '@jest/globals';
import type { Database } from '../../../src/platform/database/engine/database.js';
import { toCommitError } from '../../../src/platform/database/engine/database-error.js';
import type { TestApp } from './app.js';
import type { Answer } from './client.js';
import { aUser } from '../data/factories.js';
import { databaseOf } from './people.js';

/** Fails the next commit with an error, after the transaction was committed or rolled back. */
export function failNextCommit(database: Database, end: 'commit' | 'rollback', error: Error) {
  const begin = database.begin.bind(database);
  return jest.spyOn(database, 'begin').mockImplementationOnce(async () => {
    const transaction = await begin();
    const endTransaction = transaction[end].bind(transaction);
    return Object.assign(transaction, {
      commit: async () => {
        await endTransaction();
        throw error;
      },
    });
  });
}

/** Creates a user while the connection breaks after the COMMIT, before its response arrives. */
export async function loseCommit(app: TestApp): Promise<Answer> {
  const began = failNextCommit(databaseOf(app), 'commit', toCommitError(new Error('lost')));
  try {
    return await app.key.post('/users', aUser());
  } finally {
    began.mockRestore();
  }
}
