import { afterEach, describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseSync } from 'node:sqlite';
import { check } from '../../tools/checker/check.js';
import type { Fault } from '../../tools/checker/faults.js';
import { type Target, startTarget } from '../../tools/checker/targets.js';
import { ENGINE } from '../support/app/database.js';

/**
 * Selects a user whose changes by clients let every planted row break a promise. The user has a word to search for, and
 * `about_me` counts more than one write with If-Match.
 */
const HOT =
  "(SELECT uuid FROM users WHERE about_me LIKE '%-%' AND about_me NOT LIKE '1 %' AND known_as <> '' ORDER BY uuid LIMIT 1)";

/** Rows that are changed directly in the database, and the promises that each change breaks. */
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

/** Builds a fault that keeps the clients running until such a user exists, however slow the machine is. */
const waitForChange = (database: DatabaseSync): Fault => ({
  name: 'a user is changed',
  to: database,
  strike: async () => {
    while (database.prepare(`SELECT ${HOT} AS uuid`).get()?.['uuid'] === null) await delay(50);
  },
});

/** Without this the checker could be blind and nobody would notice. */
describe('the checker on a service whose database was changed by hand', () => {
  let target: Target | undefined;
  let database: DatabaseSync | undefined;
  afterEach(async () => {
    database?.close();
    await target?.remove();
    database = target = undefined;
  });

  if (ENGINE === 'sqlite') {
    it.each(PLANTED)(
      'sees %s',
      async (_name, sql, promises) => {
        target = await startTarget('sqlite');
        const file = join(target.instances[0]!.folder, 'rollcall.sqlite');
        const opened = (database = new DatabaseSync(file, { timeout: 10_000 })); // the service writes to the file too
        const { broken } = await check(
          { ...target, faults: [waitForChange(opened)] },
          {
            seconds: 0,
            seed: 1,
            beforeJudging: () => expect(opened.prepare(sql).run().changes).toBeGreaterThan(0),
          },
        );
        expect(broken.map(({ promise }) => promise)).toEqual(expect.arrayContaining(promises));
      },
      60_000,
    );
  } else {
    it.skip('is tried on SQLite only', () => undefined);
  }
});
