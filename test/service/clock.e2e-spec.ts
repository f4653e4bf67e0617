import { afterEach, expect, jest, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import { ALL_BUT_DATE } from '../support/app/clock.js';
import { create } from '../support/data/factories.js';
import { PASSWORD } from '../support/app/people.js';
import { walkByLink } from '../support/app/search.js';

/** The clock of the machine may jump, because an operator or NTP sets it, or because the machine was suspended. */
const HOUR = 60 * 60 * 1000;
const app = setUpApp();
afterEach(() => void jest.useRealTimers());

/** Sets the clock that the service reads. Timers are unaffected. */
const setClock = (millis: number) =>
  jest.useFakeTimers({ now: Date.now() + millis, advanceTimers: true, doNotFake: ALL_BUT_DATE });

test('changes, logins and searches still work after the clock is set back', async () => {
  const before = await Promise.all([1, 2, 3].map(() => create(app.key)));
  const session = await app.login();
  setClock(-2 * HOUR);
  const after = await Promise.all([1, 2, 3].map(() => create(app.key, { password: PASSWORD })));
  const [old] = before;
  const { status, body } = await app.key.put(`/users/${old.uuid}`, { firstname: 'Later' });
  expect([status, body.firstname]).toEqual([200, 'Later']);
  expect((await session.get('/users/me')).status).toBe(200);
  expect((await app.login(after[0].username, PASSWORD)).headers).toBeDefined();
  const all = [...before, ...after].map(({ uuid }) => uuid);
  for (const sort of ['updated', 'created']) {
    const seen = (await walkByLink(app.key, { sort, limit: 2 })).map(({ uuid }) => uuid as string);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(expect.arrayContaining(all));
  }
  expect((await app.key.get(`/audit?target=${old.uuid}`)).body.Results).toHaveLength(2);
});

test('new audit events get the corrected time after the clock was set back', async () => {
  setClock(48 * HOUR);
  await create(app.key);
  jest.useRealTimers();
  const { uuid } = await create(app.key);
  const [{ time }] = (await app.key.get(`/audit?target=${uuid}`)).body.Results;
  expect(Math.abs(Date.parse(time) - Date.now())).toBeLessThan(60_000);
});
