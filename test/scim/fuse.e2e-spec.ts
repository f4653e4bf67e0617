import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import { errorOf, provision, scimAs } from '../support/app/scim.js';

let app: TestApp;
beforeAll(async () => void (app = await TestApp.start({ FUSE_MIN: '2', FUSE_PERCENT: '0' })));
afterAll(() => app.end());

const replace = (path: string, value: unknown) => ({ op: 'replace', path, value });

test('the fuse counts deactivations and deletions of SCIM', async () => {
  const provider = await scimAs(app, { scopes: ['users:read', 'users:write'] });
  const users = [await provision(provider), await provision(provider), await provision(provider)];
  expect((await provider.delete(`/Users/${users[0].id}`)).status).toBe(204);
  expect((await provider.patch(`/Users/${users[1].id}`, replace('active', false))).status).toBe(200);
  for (const answer of [
    await provider.delete(`/Users/${users[2].id}`),
    await provider.patch(`/Users/${users[2].id}`, replace('active', false)),
  ]) {
    expect(errorOf(answer).slice(0, 2)).toEqual([429, undefined]);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  }
  expect((await provider.get(`/Users/${users[2].id}`)).body.active).toBe(true);
});
