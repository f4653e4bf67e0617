import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import type { Caller } from '../../src/access/actor.js';
import type { OpenTransaction, Sql } from '../../src/platform/database/engine/sql.js';
import type { ChangeOutcome, UserChange } from '../../src/users/writer/change-set.js';
import { UserWriter } from '../../src/users/writer/user-writer.service.js';
import { UserCounts } from '../../src/users/writer/user-counts.service.js';
import type { UserPatch } from '../../src/users/rules/user-rules.js';
import { TestApp } from '../support/app/app.js';
import { ENGINE } from '../support/app/database.js';
import { create } from '../support/data/factories.js';
import { databaseOf } from '../support/app/people.js';
import { createMany } from '../support/app/search.js';

const SYSTEM: Caller = { actor: { kind: 'system', id: null }, requestId: 'test', ip: '' };

let app: TestApp;
let second: TestApp;
beforeAll(async () => {
  app = await TestApp.start();
  // Two connections of one process would block each other on SQLite.
  second = ENGINE === 'sqlite' ? app : await TestApp.on(app.database);
});
afterAll(async () => {
  if (second !== app) await second.stop();
  await app.end();
});

const rowsLeft = async () => (await databaseOf(app).query('SELECT id FROM user_counts')).length;
const counted = async (instance: TestApp) => (await instance.key.get('/users/search?limit=1')).body['Count'];

test('rows of counts are folded by several instances at once, and no change is counted twice or lost', async () => {
  const before = Number(await counted(app));
  await createMany(app.key, Array(200).fill({}));
  const folds = [app, second, app, second].map(({ app }) => app.get(UserCounts).fold());
  const created = Array.from({ length: 20 }, () => create(second.key));
  await Promise.all([...folds, ...created]);
  expect(await counted(app)).toBe(before + 220);
  expect(await counted(second)).toBe(before + 220);
  expect(await rowsLeft()).toBeLessThan(150);
});

test('rows are folded soon after the changes, without being asked', async () => {
  const before = Number(await counted(app));
  await createMany(app.key, Array(120).fill({}));
  while ((await rowsLeft()) > 100) await new Promise(setImmediate);
  expect(await counted(app)).toBe(before + 120);
});

const onMariadb = ENGINE === 'mariadb' ? describe : describe.skip;

onMariadb('on a database with row locks (SQLite has one writer at a time)', () => {
  const apply = (tx: Sql, change: UserChange): Promise<ChangeOutcome[]> =>
    app.app.get(UserWriter).apply(tx, [change], SYSTEM);
  const open = (): Promise<OpenTransaction> => databaseOf(app).begin();
  const named = (patch: UserPatch = {}): UserPatch => {
    const name = uuidv7();
    return { username: name, email: `${name}@example.org`, external_id: name, ...patch };
  };

  /** Each with a user of its own, and none with a rule that looks at others. */
  const CHANGES: Record<string, (uuid: string) => UserChange> = {
    create: () => ({ kind: 'create', uuid: uuidv7(), patch: named({ firstname: 'Kim', surname: 'Lee' }) }),
    'create a Webmaster': () => ({ kind: 'create', uuid: uuidv7(), patch: named({ roles: ['Webmaster'] }) }),
    'a field': (uuid) => ({ kind: 'update', uuid, patch: { phone: '1' } }),
    'words of a name': (uuid) => ({ kind: 'update', uuid, patch: { firstname: 'Sam', surname: 'Lee' } }),
    'all identifiers': (uuid) => ({ kind: 'update', uuid, patch: named({ authname: { saml: [uuid] } }) }),
    roles: (uuid) => ({ kind: 'update', uuid, patch: { roles: ['Editor', 'Author'] } }),
    'becomes a Webmaster': (uuid) => ({ kind: 'update', uuid, patch: { roles: ['Webmaster'] } }),
    block: (uuid) => ({ kind: 'update', uuid, patch: { status: 'Blocked' } }),
    password: (uuid) => ({ kind: 'update', uuid, patch: { password_hash: 'x' } }),
    'a manager is taken away': (uuid) => ({ kind: 'update', uuid, patch: { manager_uuid: null } }),
  };

  test.each(Object.keys(CHANGES))(
    'while a change is open (%s), any change of another user ends',
    async (name) => {
      const changeOf = async (of: string): Promise<UserChange> => {
        const { uuid } = await create(app.key, { firstname: 'Kim', surname: 'Lee' });
        const change = CHANGES[of]?.(uuid);
        if (!change) throw new Error(of);
        return change;
      };
      const held = await changeOf(name);
      const others = await Promise.all(Object.keys(CHANGES).map(changeOf));
      const tx = await open();
      try {
        expect((await apply(tx, held))[0]?.outcome).not.toBe('error');
        for (const change of others) {
          const other = await open();
          const outcomes = await apply(other, change).finally(() => other.rollback());
          expect(outcomes[0]?.outcome).not.toBe('error');
        }
      } finally {
        await tx.rollback();
      }
    },
  );

  test('two Webmasters that leave at once take turns', async () => {
    const [a, b] = await Promise.all(
      [create(app.key), create(app.key)].map(async (user) => (await user).uuid),
    );
    if (a === undefined || b === undefined) throw new Error('no users');
    for (const uuid of [a, b]) await app.key.put(`/users/${uuid}`, { roles: ['Webmaster'] });
    const first = await open();
    const leaving = await apply(first, { kind: 'update', uuid: a, patch: { roles: [] } });
    expect(leaving[0]?.outcome).toBe('updated');
    const other = await open();
    await other.execute('SET SESSION innodb_lock_wait_timeout = 1');
    await expect(apply(other, { kind: 'update', uuid: b, patch: { roles: [] } })).rejects.toMatchObject({
      fault: 'race',
    });
    await other.execute('SET SESSION innodb_lock_wait_timeout = DEFAULT');
    await other.rollback();
    await first.commit();
  });
});
