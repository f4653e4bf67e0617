import { afterEach, describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { check } from '../../tools/checker/check.js';
import { type Target, startTarget } from '../../tools/checker/targets.js';
import { ENGINE } from '../support/app/database.js';

/** Of a user that the clients change. */
const HOT = "(SELECT uuid FROM users WHERE about_me LIKE '%-%' ORDER BY uuid LIMIT 1)";

/** A row that somebody changes beside the service, and the promises that are broken by that. */
const PLANTED: [name: string, sql: string, promises: string[]][] = [
  [
    'an audit row deleted',
    `DELETE FROM audit_events WHERE target_id = ${HOT} AND action = 'user.updated'`,
    ['audit'],
  ],
  [
    'an update lost',
    `UPDATE users SET about_me = '1 x' WHERE uuid = ${HOT}`,
    ['nothing lost', 'no lost update'],
  ],
  ['a user deleted', `DELETE FROM users WHERE uuid = ${HOT}`, ['nothing lost', 'counts']],
  ['a count changed', 'UPDATE user_counts SET value = value + 1', ['counts']],
  ['the words of a user deleted', `DELETE FROM user_words WHERE user_uuid = ${HOT}`, ['searches']],
];

/** Without this the checker could be blind and nobody would notice. */
describe('the checker on a service whose database was changed by hand', () => {
  let target: Target | undefined;
  afterEach(async () => {
    await target?.remove();
    target = undefined;
  });

  if (ENGINE === 'sqlite') {
    it.each(PLANTED)(
      'sees %s',
      async (_name, sql, promises) => {
        target = await startTarget('sqlite');
        const file = join(target.instances[0]!.folder, 'rollcall.sqlite');
        const plant = (): void => {
          const database = new DatabaseSync(file, { timeout: 10_000 }); // the service writes beside it
          expect(database.prepare(sql).run().changes).toBeGreaterThan(0);
          database.close();
        };
        const { broken } = await check(
          { ...target, faults: [] },
          { seconds: 2, seed: 1, beforeJudging: plant },
        );
        expect(broken.map(({ promise }) => promise)).toEqual(expect.arrayContaining(promises));
      },
      60_000,
    );
  } else {
    it.skip('is tried on SQLite only', () => undefined);
  }
});
