import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import { create } from '../support/data/factories.js';
import { createMany, found } from '../support/app/search.js';

let app: TestApp;
beforeAll(async () => void (app = await TestApp.start()));
afterAll(() => app.end());

test('the longest values of other alphabets can be searched', async () => {
  const emoji = '😀'.repeat(250);
  await createMany(app.key, [
    { username: emoji, external_id: emoji, authname: { emoji: [emoji] }, status: 'Blocked' },
  ]);
  for (const query of [{ username: emoji }, { external_id: emoji }, { authname: `emoji:${emoji}` }]) {
    expect(await found(app.key, query)).toEqual([emoji]);
  }
});

test('after a change a filter finds the new value and not the old', async () => {
  const boss = await create(app.key);
  const before = {
    external_id: 'old-1',
    authname: { saml: ['old'] },
    roles: ['Moderator'],
    manager_uuid: boss.uuid,
  };
  const [uuid] = await createMany(app.key, [{ username: 'moving', ...before }]);
  for (const query of [{ role: 'Moderator' }, { manager_uuid: boss.uuid }]) {
    expect(await found(app.key, query)).toEqual(['moving']);
  }
  const changed = {
    external_id: 'new-1',
    authname: { saml: ['new'] },
    roles: ['Previewer'],
    email: 'new@example.org',
    manager_uuid: null,
  };
  expect((await app.key.put(`/users/${uuid}`, changed)).status).toBe(200);
  for (const query of [{ external_id: 'old-1' }, { authname: 'saml:old' }, { role: 'Moderator' }]) {
    expect(await found(app.key, query)).toEqual([]);
  }
  for (const query of [
    { external_id: 'new-1' },
    { authname: 'saml:new' },
    { role: 'Previewer' },
    { email: 'new@example.org' },
  ]) {
    expect(await found(app.key, query)).toEqual(['moving']);
  }
  expect(await found(app.key, { manager_uuid: boss.uuid })).toEqual([]);
});

test.each(['status=Active', 'role=Editor'])('%s may be repeated a hundred times, not more', async (one) => {
  const search = async (times: number) => {
    const { status } = await app.key.get(`/users/search?${Array(times).fill(one).join('&')}`);
    return status;
  };
  expect([await search(100), await search(101)]).toEqual([200, 400]);
});
