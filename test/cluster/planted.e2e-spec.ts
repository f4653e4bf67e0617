import { afterEach, describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseSync } from 'node:sqlite';
import { runChecker } from '../../tools/checker/check.js';
import type { Fault } from '../../tools/checker/faults.js';
import { type Target, startTarget } from '../../tools/checker/targets.js';
import { ENGINE } from '../support/app/database.js';

/**
 * Selects a user for whom every planted fault breaks a promise. The user has a searchable word, and `about_me` counts
 * more than one write with If-Match.
 */
const HOT =
  "(SELECT uuid FROM users WHERE about_me LIKE '%-%' AND about_me NOT LIKE '1 %' AND known_as <> '' ORDER BY uuid LIMIT 1)";

/** Changes that are made directly in the database, each with the promises that it breaks. */
const PLANTED: [name: string, sql: string, promises: string[]][] = [
  [
    'a deleted audit row',
    `DELETE FROM audit_events WHERE target_id = ${HOT} AND action = 'user.updated'`,
    ['audit'],
  ],
  [
    'a lost update',
    `UPDATE users SET about_me = '1 x' WHERE uuid = ${HOT}`,
    ['nothing lost', 'no lost update'],
  ],
  ['a deleted user', `DELETE FROM users WHERE uuid = ${HOT}`, ['nothing lost', 'counts']],
  ['a changed count', 'UPDATE user_counts SET value = value + 1', ['counts']],
  ['deleted words of a user', `DELETE FROM user_words WHERE user_uuid = ${HOT}`, ['searches']],
];

/** Builds a fault that keeps the clients running until the user of `HOT` exists, even on a slow machine. */
const waitForChange = (database: DatabaseSync): Fault => ({
  name: 'a user is changed',
  to: database,
  inject: async () => {
    while (database.prepare(`SELECT ${HOT} AS uuid`).get()?.['uuid'] === null) await delay(50);
  },
});

/** Proves that the checker detects broken promises. */
describe('the checker of data guarantees', () => {
  let target: Target | undefined;
  let database: DatabaseSync | undefined;
  afterEach(async () => {
    database?.close();
    await target?.remove();
    database = target = undefined;
  });

  if (ENGINE === 'sqlite') {
    it.each(PLANTED)(
      'detects a planted fault: %s',
      async (_name, sql, promises) => {
        target = await startTarget('sqlite');
        const file = join(target.instances[0]!.folder, 'rollcall.sqlite');
        const opened = (database = new DatabaseSync(file, { timeout: 10_000 })); // the service writes to the file too
        const { broken } = await runChecker(
          { ...target, faults: [waitForChange(opened)] },
          {
            seconds: 0,
            seed: 1,
            beforeFinalState: () => expect(opened.prepare(sql).run().changes).toBeGreaterThan(0),
          },
        );
        expect(broken.map(({ promise }) => promise)).toEqual(expect.arrayContaining(promises));
      },
      60_000,
    );
  } else {
    it.skip('detects planted faults (tested only on SQLite)', () => undefined);
  }
});
