import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { CATALOGUE, isErrorCode } from '../../src/common/errors.js';
import { TestApp } from '../support/app/app.js';
import { aGroup } from '../support/app/groups.js';
import { type ScimClient, scimOf } from '../support/app/scim.js';
import { SCIM_ONLY } from '../support/app/scim-only.js';
import { seedUsers, seededUuid } from '../support/app/seed.js';

/** The codes of the catalogue that only SCIM answers, in its form. */
let app: TestApp;
let scim: ScimClient;
let group: { id: string; displayName: string };
beforeAll(async () => {
  app = await TestApp.start({ SCIM_SCAN_LIMIT: '1000' });
  scim = scimOf(app);
  await seedUsers(app, 0, 1001);
  const { uuid, display_name } = await aGroup(app, {
    members: Array.from({ length: 1001 }, (_, n) => seededUuid(n)),
  });
  group = { id: uuid, displayName: display_name };
});
afterAll(() => app.end());

test.each(Object.keys(SCIM_ONLY))('%s', async (code) => {
  const [scimType, send] = SCIM_ONLY[code]!;
  const { status, body, headers } = await send(scim, group);
  expect(isErrorCode(code) && CATALOGUE[code].status).toBe(status);
  expect(body).toEqual({
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: String(status),
    scimType,
    detail: expect.stringMatching(/^\S.+\.$/s),
  });
  expect(headers['content-type']).toMatch(/^application\/scim\+json(; charset=utf-8)?$/);
});
