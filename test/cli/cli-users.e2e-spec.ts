import { describe, expect, test } from '@jest/globals';
import { ADMIN_PASSWORD, API_KEY, setUpApp } from '../support/app/app.js';
import { TARGETS, runOn, runCommand } from '../support/process/command.js';

/** `rollcall users` on the database of a running service and through the service. */
const app = setUpApp();

const UNKNOWN = '01a1fc45-0000-7000-8000-000000000000';

describe.each(TARGETS)('rollcall users on the %s', (target) => {
  const run = (...args: string[]) => runOn(target, app, ['users', ...args]);
  /** Creates a user whose names are unique for the target. */
  const createUser = async (name: string) => {
    const own = `${name}-${target}`;
    const names = { username: own, email: `${own}@example.org`, external_id: `X-${own}` };
    const user = { ...names, surname: `Of${target}` };
    const { body } = await app.key.post('/users', { ...user, password: ADMIN_PASSWORD });
    return { ...user, uuid: body.uuid as string };
  };

  test('"find" prints matching users page by page', async () => {
    const [first, second] = [await createUser('finn'), await createUser('fay')];
    const shown = await run('find', `of${target}`, '--sort', 'username', '--order', 'asc');
    const [head, ...rows] = shown.out.trimEnd().split('\n');
    expect(shown).toMatchObject({ code: 0, err: '' });
    expect(head).toMatch(/^UUID +STATUS +USERNAME +E-MAIL +NAME +EXTERNAL ID +ROLES$/);
    expect(rows.map((row) => row.slice(0, 36))).toEqual([second.uuid, first.uuid]);
    const page = await run('find', `of${target}`, '--limit', '1', '--json');
    expect(JSON.parse(page.out)).toMatchObject({ Count: 2, Results: [{ surname: `Of${target}` }] });
    const [, cursor = ''] = /^2 in total\. Next page: --after (\S+)\n$/.exec(page.err) ?? [];
    const next = await run('find', `of${target}`, '--limit', '1', '--after', cursor, '--json');
    expect(JSON.parse(next.out).Results[0].uuid).not.toBe(JSON.parse(page.out).Results[0].uuid);
    for (const typed of [first.username.slice(0, -2), first.email, first.uuid, first.external_id]) {
      const found = await run('find', typed, '--email-domain', 'example.org', '--json');
      expect(JSON.parse(found.out).Results).toMatchObject([{ uuid: first.uuid }]);
    }
    const wrong = await run('find', '--status', 'Asleep');
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringMatching(/option '--status' must be/)]);
  });

  test('"show" finds a user by every identifier', async () => {
    const user = await createUser('sam');
    for (const name of [user.uuid, user.username.toUpperCase(), user.email, user.external_id]) {
      const shown = await run('show', name);
      expect(shown.code).toBe(0);
      expect(shown.out).toContain(`username     ${user.username}\n`);
      expect(shown.out).not.toMatch(/password|about_me/);
    }
    const { user_avatar, ...others } = (await app.key.get(`/users/${user.uuid}`)).body;
    const json = JSON.parse((await run('show', user.username, '--json')).out);
    expect({ json, user_avatar: json.user_avatar }).toEqual({
      json: expect.objectContaining(others),
      user_avatar: expect.stringContaining(new URL(user_avatar).pathname),
    });
    for (const name of ['nobody-at-all', UNKNOWN]) {
      const missing = await run('show', name);
      expect([missing.code, missing.out, missing.err.includes(name)]).toEqual([2, '', true]);
    }
  });

  test('"show" accepts a UUID-like external id', async () => {
    const external_id = `0198f3a2-5d1c-7c4e-9a51-${target === 'database' ? '3f2b8c6d7e10' : '3f2b8c6d7e11'}`;
    const user = await createUser('uma');
    await app.key.put(`/users/${user.uuid}`, { external_id });
    const shown = await run('show', external_id);
    expect([shown.code, shown.out]).toEqual([0, expect.stringContaining(user.uuid)]);
  });

  test('"block" ends the sessions of the user', async () => {
    const user = await createUser('bob');
    const session = await app.login(user.username);
    expect(await run('block', 'no-user', 'none')).toMatchObject({ code: 2, out: '' });
    const blocked = await run('block', user.email);
    expect([blocked.code, blocked.out]).toEqual([0, `${user.username} (${user.uuid}) is blocked.\n`]);
    expect((await session.get('/users/me')).status).toBe(401);
    const back = await run('reactivate', user.uuid, '--json');
    expect(JSON.parse(back.out)).toMatchObject([{ uuid: user.uuid, status: 'Active' }]);
  });

  test('"reset-password" prints a working password', async () => {
    const user = await createUser('pia');
    const session = await app.login(user.username);
    const reset = await run('reset-password', user.username);
    expect([reset.code, reset.err]).toEqual([0, expect.stringContaining('has a new password')]);
    expect(reset.out).toMatch(/^([a-z2-9]{4}-){5}[a-z2-9]{4}\n$/);
    expect((await session.get('/users/me')).status).toBe(401);
    expect((await (await app.login(user.username, reset.out.trim())).get('/users/me')).status).toBe(200);
    expect((await app.key.get(`/audit?target=${user.uuid}`)).text).not.toContain(reset.out.trim());
  });
});

test('rollcall users block is rejected with --key but without --url', async () => {
  const { code, out, err } = await runCommand(app.database, ['users', 'block', 'admin', '--key', API_KEY]);
  expect([code, out]).toEqual([2, '']);
  expect(err).toMatch(/option '--key' requires --url/);
});
