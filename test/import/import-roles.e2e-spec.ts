import { describe, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import { create } from '../support/data/factories.js';
import { aGroup } from '../support/app/groups.js';
import { countsOf, csv, findUser, readFailed, runImport } from '../support/app/imports.js';
import { HEAD, setUpIds } from '../support/data/user-file.js';

/** Roles in imports, and the protection of Webmasters. */
const app = setUpApp();
const { toId, person } = setUpIds();

describe('an import without allow_privileged', () => {
  const roles = (cell: string, status = 'Active') => csv(`${HEAD},Roles,Status`, person('a', cell, status));
  test('cannot add, demote or block Webmasters', async () => {
    const expectCounts = async (counts: object, file: string, options?: string) =>
      expect(countsOf(await runImport(app.key, file, options))).toEqual(counts);
    const grant = await runImport(app.key, roles('Webmaster'));
    expect(grant.problems).toMatchObject([{ field: 'roles', code: 'privileged_user' }]);
    await expectCounts({ created: 1 }, roles('Webmaster'), 'allow_privileged=true');
    await expectCounts({ updated: 1 }, csv(`${HEAD},Phone`, person('a', '9')));
    const demoted = await runImport(app.key, roles('Editor'));
    expect(demoted.problems).toMatchObject([{ field: 'roles', code: 'privileged_user' }]);
    const blocked = await runImport(app.key, roles('Webmaster', 'Blocked'));
    expect(blocked.problems).toMatchObject([{ field: 'status', code: 'privileged_user' }]);
    await expectCounts({ updated: 1 }, roles('Editor'), 'allow_privileged=true');
  });
  test.each([
    ['Username', 'username', 'x-taken-over'],
    ['Email', 'email', 'x-taken-over@example.org'],
    ['Saml', 'authname', 'x-taken-over'],
    ['Roles', 'roles', 'Webmaster|Editor'],
    ['Status', 'status', 'Blocked'],
  ])('cannot change the column %s of a Webmaster', async (column, field, cell) => {
    await create(app.key, { roles: ['Webmaster'], external_id: toId('own') });
    const member = await create(app.key, { external_id: toId('group') });
    await aGroup(app, { roles: ['Webmaster'], members: [member.uuid] });
    for (const id of [toId('own'), toId('group')]) {
      const change = csv(`ExternalId,${column},Phone,HideEmail`, `${id},${cell},9,true`);
      expect((await runImport(app.key, change)).problems).toMatchObject([{ field, code: 'privileged_user' }]);
      const { counts } = await runImport(app.key, change, 'dry_run=true&allow_privileged=true');
      expect(counts.error).toBe(0);
      const rest = csv('ExternalId,Phone,HideEmail', `${id},9,true`);
      expect(countsOf(await runImport(app.key, rest))).toEqual({ updated: 1 });
    }
  });
  test.each(['email', 'username'])('cannot adopt a Webmaster by %s', async (adopt) => {
    const { username, email } = await create(app.key, { roles: ['Webmaster'] });
    const file = csv(HEAD, [toId('x'), username, email].join(','));
    const { problems } = await runImport(app.key, file, `adopt=${adopt}`);
    expect(problems).toMatchObject([{ field: 'external_id', code: 'privileged_user' }]);
    const allowed = await runImport(app.key, file, `adopt=${adopt}&allow_privileged=true`);
    expect(countsOf(allowed)).toEqual({ updated: 1 });
  });
  test('reports the user uuid in role errors', async () => {
    const boss = await create(app.key, { roles: ['Webmaster'], external_id: toId('a') });
    const member = await create(app.key, { external_id: toId('b') });
    const one = (name: string, cell: string) => csv('ExternalId,Roles', `${toId(name)},${cell}`);
    for (const [name, cell, { uuid }] of [
      ['a', 'Editor', boss],
      ['b', 'Webmaster', member],
    ] as const) {
      const run = await runImport(app.key, one(name, cell));
      const message = expect.stringContaining(uuid as string);
      expect(run.problems).toMatchObject([{ code: 'privileged_user', message }]);
      expect(await readFailed(app.key, run.id)).toContain(uuid);
    }
    const created = await runImport(app.key, csv(`${HEAD},Roles`, person('c', 'Webmaster')));
    expect(created.problems[0].message).toMatch(/^can include Webmaster only with allow_privileged/);
  });
});

test('the option default_roles applies only to new users without roles', async () => {
  const file = csv(`${HEAD},Roles`, person('a', ''), person('b', 'Editor'));
  await runImport(app.key, file, 'default_roles=author;Blogger');
  expect((await findUser(app.key, toId('a'))).roles).toEqual(['Author', 'Blogger']);
  expect((await findUser(app.key, toId('b'))).roles).toEqual(['Editor']);
});
