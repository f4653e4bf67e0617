import { expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import { LAX_GUARDS } from '../support/app/guards.js';
import { create } from '../support/data/factories.js';
import { countsOf, csv, expectRun, findUser, rowsOf, runImport } from '../support/app/imports.js';
import { HEAD, people, person } from '../support/data/user-file.js';

/** Conflicts of usernames, e-mails, logins and managers, which are checked on the state after the whole file. */
const app = setUpApp(LAX_GUARDS);

test('an import can exchange logins between users of the file', async () => {
  await runImport(app.key, csv(`${HEAD},saml`, person('s-0', 'one'), person('s-1', 'two|three')));
  const moved = await runImport(app.key, csv('ExternalId,Authname', 's-0,two|three', 's-1,one'));
  expect([countsOf(moved), moved.problems]).toEqual([{ updated: 2 }, []]);
  expect((await findUser(app.key, 's-0')).authname).toEqual({ saml: ['two', 'three'] });
  const taken = await runImport(app.key, csv('ExternalId,Authname', 's-0,one'));
  expect(taken.problems).toMatchObject([{ field: 'authname', code: 'authname_taken' }]);
});

test('an import can set managers and rotate usernames across batches', async () => {
  const rows = people('b-', 600, (i) => [i < 599 ? `b-${i + 1}` : '']);
  const first = await runImport(app.key, csv(`${HEAD},Manager`, ...rows), 'dataset=b');
  expectRun(first, 'completed', { created: 600 });
  expect((await findUser(app.key, 'b-0')).manager_uuid).toBe((await findUser(app.key, 'b-1')).uuid);
  const ring = [0, 300, 599];
  const renamed = rows.map((row, i) => {
    const to = ring[(ring.indexOf(i) + 1) % 3] ?? 0;
    return ring.includes(i) ? row.replace(`,b-${i},`, `,b-${to},`) : row;
  });
  const second = await runImport(app.key, csv(`${HEAD},Manager`, ...renamed), 'dataset=b');
  expectRun(second, 'completed', { updated: 3, unchanged: 597 });
  expect((await findUser(app.key, 'b-599')).username).toBe('b-0');
});

test('a Manager cell can contain the uuid of the manager', async () => {
  const boss = await create(app.key);
  const file = csv(`${HEAD},Manager`, person('w-0', `uuid:${boss.uuid.toUpperCase()}`));
  const run = await runImport(app.key, file);
  expect(countsOf(run)).toEqual({ created: 1 });
  expect((await findUser(app.key, 'w-0')).manager_uuid).toBe(boss.uuid);
});

test('import row errors have a uuid only for existing users', async () => {
  await runImport(app.key, csv(HEAD, 'none-0,none-old,none0@example.org'));
  const rows = ['1,none-same,none1@example.org', '2,none-same,none2@example.org', '0,none-same,'];
  const run = await runImport(app.key, csv(HEAD, ...rows.map((row) => `none-${row}`)));
  const uuids = (await rowsOf(app.key, run.id, 'outcome=error')).map(({ uuid }) => uuid);
  expect(uuids).toEqual([null, null, (await findUser(app.key, 'none-0')).uuid]);
});
