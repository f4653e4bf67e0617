import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { ImportRunsRepository } from '../src/import/run/import-runs.repository.js';
import { TestApp } from './support/app.js';
import { ENGINE } from './support/database.js';
import { csv, imported, settled } from './support/imports.js';
import { databaseOf } from './support/people.js';

/** Two that work on one import at once. */
let app: TestApp;
beforeAll(async () => void (app = await TestApp.start()));
afterEach(() => void jest.restoreAllMocks());
afterAll(() => app.end());

const onMariadb = ENGINE === 'mariadb' ? test : test.skip;

const people = (count: number, status: (i: number) => string = () => 'Active') =>
  csv(
    'ExternalId,Username,Email,Status',
    ...Array.from({ length: count }, (_, i) => `p${i},p${i},p${i}@example.org,${status(i)}`),
  );

/** Whether somebody waits for a row of this database that another transaction holds. */
async function someoneWaits(): Promise<boolean> {
  const row = await databaseOf(app).first<{ n: number }>(
    `SELECT COUNT(*) AS n FROM information_schema.processlist
     WHERE db = DATABASE() AND id <> CONNECTION_ID() AND info LIKE '%FOR UPDATE' AND time_ms > 100`,
  );
  return (row?.n ?? 0) > 0;
}

onMariadb(
  'an operator whose word comes while a newer import takes the place of the plan is told so (needs a server: MariaDB only)',
  async () => {
    await imported(app.key, people(30));
    const parked = await imported(
      app.key,
      people(30, (i) => (i < 10 ? 'Blocked' : 'Active')),
    );
    expect(parked.state).toBe('needs_approval');
    const runs = app.app.get(ImportRunsRepository);
    const ofDataset = runs.ofDataset.bind(runs);
    let word: ReturnType<typeof app.key.post> | undefined;
    jest.spyOn(runs, 'ofDataset').mockImplementation(async (...given) => {
      const older = await ofDataset(...given);
      if (!given[1].includes('needs_approval')) return older;
      word = app.key.post(`/imports/${parked.id as string}/reject`);
      const answered = word.then(() => true);
      while (!(await Promise.race([answered, someoneWaits()])));
      return older;
    });
    expect((await imported(app.key, people(30))).state).toBe('completed');
    const answer = await word;
    expect([answer?.status, answer?.body.code]).toEqual([409, 'wrong_state']);
    expect((await settled(app.key, parked.id)).state).toBe('superseded');
  },
);
