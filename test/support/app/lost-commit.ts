import { jest } from '@jest/globals';
import { toCommitError } from '../../../src/platform/database/engine/database-error.js';
import type { TestApp } from './app.js';
import type { Answer } from './client.js';
import { aUser } from '../data/factories.js';
import { databaseOf } from './people.js';

/** Creates a user while the connection breaks after the COMMIT, before its response arrives. */
export async function loseCommit(app: TestApp): Promise<Answer> {
  const database = databaseOf(app);
  const begin = database.begin.bind(database);
  const began = jest.spyOn(database, 'begin').mockImplementationOnce(async () => {
    const transaction = await begin();
    const commit = transaction.commit.bind(transaction);
    return Object.assign(transaction, {
      commit: async () => {
        await commit();
        throw toCommitError(new Error('lost'));
      },
    });
  });
  try {
    return await app.key.post('/users', aUser());
  } finally {
    began.mockRestore();
  }
}
