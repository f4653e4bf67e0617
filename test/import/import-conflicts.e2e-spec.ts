import { expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import { LAX_GUARDS } from '../support/app/guards.js';
import { create } from '../support/data/factories.js';
import { countsOf, csv, runImport, findUser, rowsOf } from '../support/app/imports.js';

/** Conflicts of usernames, e-mails, logins and managers, which are checked on the state after the whole file. */
const app = setUpApp(LAX_GUARDS);

const HEAD = 'ExternalId,Username,Email';
/** Returns rows of users `<prefix><i>` with the usernames `<prefix>n<i>`. */
const people = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, i) => `${prefix}${i},${prefix}n${i},${prefix}${i}@example.org`);

test('an import row with a taken username names the other user', async () => {
  await runImport(app.key, csv(HEAD, ...people('t-', 2)));
  const run = await runImport(app.key, csv(HEAD, 't-9,T-N0,t-9@example.org'));
  const owner = await findUser(app.key, 't-0');
  expect(run.problems).toMatchObject([{ field: 'username', code: 'username_taken', uuid: owner.uuid }]);
});

test('an import can exchange logins between users of the file', async () => {
  await runImport(
    app.key,
    csv(`${HEAD},saml`, 's-0,s-0,s-0@example.org,one', 's-1,s-1,s-1@example.org,two|three'),
  );
  const moved = await runImport(app.key, csv('ExternalId,Authname', 's-0,two|three', 's-1,one'));
  expect([countsOf(moved), moved.problems]).toEqual([{ updated: 2 }, []]);
  expect((await findUser(app.key, 's-0')).authname).toEqual({ saml: ['two', 'three'] });
  const taken = await runImport(app.key, csv('ExternalId,Authname', 's-0,one'));
  expect(taken.problems).toMatchObject([{ field: 'authname', code: 'authname_taken' }]);
});

test('an import can set managers and rotate usernames across batches', async () => {
  const rows = Array.from(
    { length: 600 },
    (_, i) => `b-${i},b-n${i},b-${i}@example.org,${i < 599 ? `b-${i + 1}` : ''}`,
  );
  const first = await runImport(app.key, csv(`${HEAD},Manager`, ...rows), 'dataset=b');
  expect([first.state, countsOf(first)]).toEqual(['completed', { created: 600 }]);
  expect((await findUser(app.key, 'b-0')).manager_uuid).toBe((await findUser(app.key, 'b-1')).uuid);
  const ring = [0, 300, 599];
  const renamed = rows.map((row, i) => {
    const to = ring[(ring.indexOf(i) + 1) % 3] ?? 0;
    return ring.includes(i) ? row.replace(`b-n${i},`, `b-n${to},`) : row;
  });
  const second = await runImport(app.key, csv(`${HEAD},Manager`, ...renamed), 'dataset=b');
  expect([second.state, countsOf(second)]).toEqual(['completed', { updated: 3, unchanged: 597 }]);
  expect((await findUser(app.key, 'b-599')).username).toBe('b-n0');
});

test('a Manager cell can contain the uuid of the manager', async () => {
  const boss = await create(app.key);
  const run = await runImport(
    app.key,
    csv(`${HEAD},Manager`, `w-0,w-0,w-0@example.org,uuid:${boss.uuid.toUpperCase()}`),
  );
  expect(countsOf(run)).toEqual({ created: 1 });
  expect((await findUser(app.key, 'w-0')).manager_uuid).toBe(boss.uuid);
});

test('import row errors have a uuid only for existing users', async () => {
  await runImport(app.key, csv(HEAD, 'none-0,none-old,none0@example.org'));
  const rows = [
    'none-1,none-same,none1@example.org',
    'none-2,none-same,none2@example.org',
    'none-0,none-same,',
  ];
  const run = await runImport(app.key, csv(HEAD, ...rows));
  const uuids = (await rowsOf(app.key, run.id, 'outcome=error')).map(({ uuid }) => uuid);
  expect(uuids).toEqual([null, null, (await findUser(app.key, 'none-0')).uuid]);
});
