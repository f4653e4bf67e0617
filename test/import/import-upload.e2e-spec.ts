import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import { auditRows } from '../support/app/audit-rows.js';
import { counted, csv, imported, linked, rowsOf } from '../support/app/imports.js';

let app: TestApp;
beforeAll(async () => {
  app = await TestApp.start();
});
afterAll(async () => {
  await app.end();
});

const FILE = csv(
  'ExternalId,Username,Email,ForeName,Surname,Phone,Roles,Manager,Linkedin',
  'E1,ann,ann@example.org,Ann,Lee,+44 1,Editor|Author,,https://linkedin.com/in/ann',
  'E2,bob,bob@example.org,Bob,"Lee, Jr",+44 2,,E3,',
  'E3,cid,cid@example.org,Cid,Low,,,E1,',
);

test('a file creates users, with managers further down in it', async () => {
  const run = await imported(app.key, FILE);
  expect([run.state, counted(run), run.problems]).toEqual(['completed', { created: 3 }, []]);
  const [created, audited, ...more] = await auditRows(app, run.id);
  expect([created?.action, audited?.action, more]).toEqual(['import.created', 'import.completed', []]);
  expect(JSON.parse(audited?.changes ?? '')).toContainEqual({ field: 'counts', new: run.counts });
  const ann = await linked(app.key, 'E1');
  const bob = await linked(app.key, 'E2');
  const cid = await linked(app.key, 'E3');
  expect(ann).toMatchObject({ username: 'ann', roles: ['Author', 'Editor'], phone: '+44 1' });
  expect([bob.manager_uuid, cid.manager_uuid]).toEqual([cid.uuid, ann.uuid]);
});

test('the same file again changes nothing', async () => {
  const run = await imported(app.key, FILE);
  expect([run.state, counted(run)]).toEqual(['completed', { unchanged: 3 }]);
  expect(await rowsOf(app.key, run.id)).toEqual([]);
  const actions = (await auditRows(app, run.id)).map(({ action }) => action);
  expect(actions).toEqual(['import.created', 'import.completed']); // and no row of a user
});

test('a swap of usernames works', async () => {
  const run = await imported(
    app.key,
    csv('ExternalId,Username,Email', 'E1,bob,ann@example.org', 'E2,ann,bob@example.org'),
  );
  expect([run.state, counted(run), run.problems]).toEqual(['completed', { updated: 2 }, []]);
  expect((await linked(app.key, 'E1')).username).toBe('bob');
});
