import { beforeAll, expect, test } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import type { OpenTransaction, Sql } from '../../src/platform/database/engine/sql.js';
import type { ChangeOutcome, UserChange } from '../../src/users/writer/change-set.js';
import { UserWriter } from '../../src/users/writer/user-writer.service.js';
import { UserCounts } from '../../src/users/writer/user-counts.service.js';
import type { UserPatch } from '../../src/users/rules/user-rules.js';
import { type TestApp, setUpApp } from '../support/app/app.js';
import { ENGINE, describeOnMariadb } from '../support/app/database.js';
import { SYSTEM } from '../support/app/deletion.js';
import { create } from '../support/data/factories.js';
import { databaseOf } from '../support/app/people.js';
import { createMany } from '../support/app/search.js';

const app = setUpApp();
let second: TestApp;
beforeAll(async () => {
  // Two connections of one process would block each other on SQLite.
  second = ENGINE === 'sqlite' ? app : await app.startOther();
});

const countRows = async () => (await databaseOf(app).query('SELECT id FROM user_counts')).length;
const readCount = async (instance: TestApp) =>
  (await instance.key.get('/users/search?limit=1')).body['Count'];

test('concurrent merges of user_counts count every change once', async () => {
  const before = Number(await readCount(app));
  await createMany(app.key, Array(200).fill({}));
  const folds = [app, second, app, second].map(({ app }) => app.get(UserCounts).mergeAllRows());
  const created = Array.from({ length: 20 }, () => create(second.key));
  await Promise.all([...folds, ...created]);
  expect(await readCount(app)).toBe(before + 220);
  expect(await readCount(second)).toBe(before + 220);
  expect(await countRows()).toBeLessThan(150);
});

test('rows of user_counts are merged automatically soon after changes', async () => {
  const before = Number(await readCount(app));
  await createMany(app.key, Array(120).fill({}));
  while ((await countRows()) > 100) await new Promise(setImmediate);
  expect(await readCount(app)).toBe(before + 120);
});

// SQLite has one writer at a time

describeOnMariadb('on MariaDB', () => {
  const apply = (tx: Sql, change: UserChange): Promise<ChangeOutcome[]> =>
    app.app.get(UserWriter).apply(tx, [change], SYSTEM);
  const open = (): Promise<OpenTransaction> => databaseOf(app).begin();
  const fill = (patch: UserPatch = {}): UserPatch => {
    const name = uuidv7();
    return { username: name, email: `${name}@example.org`, external_id: name, ...patch };
  };

  /** Changes of one user each. Their rules do not depend on other users. */
  const CHANGES: Record<string, (uuid: string) => UserChange> = {
    'create a user': () => ({
      kind: 'create',
      uuid: uuidv7(),
      patch: fill({ firstname: 'Kim', surname: 'Lee' }),
    }),
    'create a Webmaster': () => ({ kind: 'create', uuid: uuidv7(), patch: fill({ roles: ['Webmaster'] }) }),
    'change a field': (uuid) => ({ kind: 'update', uuid, patch: { phone: '1' } }),
    'change a name': (uuid) => ({ kind: 'update', uuid, patch: { firstname: 'Sam', surname: 'Lee' } }),
    'change identifiers': (uuid) => ({ kind: 'update', uuid, patch: fill({ authname: { saml: [uuid] } }) }),
    'change the roles': (uuid) => ({ kind: 'update', uuid, patch: { roles: ['Editor', 'Author'] } }),
    'assign the role Webmaster': (uuid) => ({ kind: 'update', uuid, patch: { roles: ['Webmaster'] } }),
    'block the user': (uuid) => ({ kind: 'update', uuid, patch: { status: 'Blocked' } }),
    'set the password': (uuid) => ({ kind: 'update', uuid, patch: { password_hash: 'x' } }),
    'remove the manager': (uuid) => ({ kind: 'update', uuid, patch: { manager_uuid: null } }),
  };

  test.each(Object.keys(CHANGES))(
    'an open transaction (%s) blocks no change to other users',
    async (name) => {
      const buildChange = async (of: string): Promise<UserChange> => {
        const { uuid } = await create(app.key, { firstname: 'Kim', surname: 'Lee' });
        const change = CHANGES[of]?.(uuid);
        if (!change) throw new Error(of);
        return change;
      };
      const held = await buildChange(name);
      const others = await Promise.all(Object.keys(CHANGES).map(buildChange));
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

  test('removing the role Webmaster waits for a concurrent removal', async () => {
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
