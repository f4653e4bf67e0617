import { afterEach, describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseSync } from 'node:sqlite';
import { runChecker } from '../../tools/checker/check.js';
import type { Fault } from '../../tools/checker/faults.js';
import { type Target, startTarget } from '../../tools/checker/targets.js';
import { ENGINE } from '../support/app/database.js';

/** Users for whom every planted fault breaks a promise: `about_me` counts several writes, and `known_as` is a word. */
const HOT =
  "SELECT uuid FROM users WHERE about_me LIKE '%-%' AND about_me NOT LIKE '1 %' AND known_as <> '' ORDER BY uuid";
/** The newest user whom a client created over the API, who is not in `HOT`. */
const NEWEST =
  "SELECT uuid FROM users WHERE about_me = '' AND external_id_key IS NULL ORDER BY uuid DESC LIMIT 1";

/** Changes that are made directly in the database, each for a different user, with the promises that it breaks. */
const PLANTED: [name: string, sql: string, promises: string[]][] = [
  [
    'a deleted audit row',
    "DELETE FROM audit_events WHERE target_id = ? AND action = 'user.updated'",
    ['audit'],
  ],
  ['a lost update', "UPDATE users SET about_me = '1 x' WHERE uuid = ?", ['nothing lost', 'no lost update']],
  ['deleted words of a user', 'DELETE FROM user_words WHERE user_uuid = ?', ['searches']],
  ['a deleted user', 'DELETE FROM users WHERE uuid = ?', ['nothing lost']],
];

const readUsers = (database: DatabaseSync, sql: string): string[] =>
  database
    .prepare(sql)
    .all()
    .map(({ uuid }) => String(uuid));

/** Builds a fault that keeps the clients running until `HOT` has three users, even on a slow machine. */
const waitForChanges = (database: DatabaseSync): Fault => ({
  name: 'users are changed',
  to: database,
  inject: async () => {
    while (readUsers(database, HOT).length < 3) await delay(50);
  },
});

/** Proves that the checker detects broken promises. */
describe('the checker of data guarantees', () => {
  let target: Target | undefined;
  let database: DatabaseSync | undefined;
  afterEach(async () => {
    database?.close();
    await target?.remove();
  });

  if (ENGINE === 'sqlite') {
    it('detects every planted fault', async () => {
      target = await startTarget('sqlite');
      const file = join(target.instances[0]!.folder, 'rollcall.sqlite');
      const opened = (database = new DatabaseSync(file, { timeout: 10_000 })); // the service writes to the file too
      opened.exec('PRAGMA wal_autocheckpoint = 0'); // a checkpoint of another program ends the service
      const users: string[] = [];
      const beforeFinalState = (): void => {
        users.push(...readUsers(opened, HOT).slice(0, 3), ...readUsers(opened, NEWEST));
        for (const [at, [, sql]] of PLANTED.entries())
          expect(opened.prepare(sql).run(users[at]!).changes).toBeGreaterThan(0);
        opened.exec('UPDATE user_counts SET value = value + 1');
      };
      const faults = [waitForChanges(opened)];
      const options = { seconds: 0, seed: 1, beforeFinalState };
      const { broken } = await runChecker({ ...target, faults }, options);
      const isReported = (promise: string, user = ''): boolean =>
        broken.some((violation) => violation.promise === promise && violation.text.includes(user));
      const unreported = PLANTED.flatMap(([name, , promises], at) =>
        promises.filter((promise) => !isReported(promise, users[at])).map((promise) => [name, promise]),
      );
      expect(unreported).toEqual([]);
      expect(isReported('counts')).toBe(true);
    });
  } else {
    it.skip('detects planted faults (tested only on SQLite)', () => undefined);
  }
});
