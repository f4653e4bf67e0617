import { beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { UniqueUsernames } from '../../src/import/plan/unique-usernames.js';
import type { Owner } from '../../src/users/set-rules/identifier-changes.js';
import { setUpApp } from '../support/app/app.js';
import { update, writeUsers } from '../support/app/deletion.js';
import { create } from '../support/data/factories.js';
import { countsOf, csv, decide, findUser, rowsOf, runImport, sendPreview } from '../support/app/imports.js';

/** Usernames from a template with the function `unique`. */
const app = setUpApp();
const COLUMNS = { Nr: 'ExternalId', Mail: 'Email', Given: 'ForeName', Family: 'Surname', Boss: 'Manager' };
const HEAD = 'Nr,Mail,Given,Family,Boss';
async function importRows(rows: string[], query = '') {
  const run = await runImport(app.key, csv(HEAD, ...rows), `profile=named${query}`);
  return run.state === 'needs_approval' ? decide(app.key, run.id, 'apply') : run;
}
const usernameOf = async (id: string): Promise<string | undefined> => (await findUser(app.key, id))?.username;
beforeAll(async () => {
  const set = { Username: '{Given:ascii:lower}.{Family:german:ascii:lower:unique}' };
  await app.key.put('/import_profiles/named', { columns: COLUMNS, set });
});

const row = fc.record({
  id: fc.nat(15),
  family: fc.constantFrom('Müller', 'Mueller', 'MÜLLER', 'Sato'),
  // Some rows break a field rule or a set rule.
  fault: fc.constantFrom('', '', '', 'no address', 'same@example.org', 'boss'),
});

test('unique usernames are the lowest free ones and stay with their users in random imports', async () => {
  const owned = new Map<string, string>();
  const released = new Set<string>();
  const files = fc.sample(fc.tuple(fc.uniqueArray(row, { selector: ({ id }) => id }), fc.boolean()), 30);
  for (const [index, [rows, renames]] of files.entries()) {
    const [renamed] = [...owned.keys()].filter((_, at) => renames && at === index % owned.size);
    if (renamed !== undefined) {
      released.add(owned.get(renamed) ?? '');
      owned.set(renamed, `renamed${index}`);
      const { uuid } = await findUser(app.key, renamed);
      await writeUsers(app, [update(uuid, { username: `renamed${index}` })]);
    }
    const lines = rows.map(({ id, family, fault }) => {
      const mail = fault.includes(' ') || fault.includes('@') ? fault : `k${id}@example.org`;
      return `k${id},${mail},Anna,${family},${fault === 'boss' ? 'nobody' : ''}`;
    });
    const run = await importRows(lines);
    const errors = await rowsOf(app.key, run.id, 'outcome=error&limit=100');
    const failed = new Set(errors.map(({ line }) => line));
    for (const [at, { id, family }] of rows.entries()) {
      if (owned.has(`k${id}`) || failed.has(at + 2)) continue;
      const base = `anna.${family.toLowerCase().replace('ü', 'ue')}`;
      const names = Array.from({ length: 40 }, (_, n) => base + (n === 0 ? '' : String(n + 1)));
      const name = names.find((each) => !released.has(each) && ![...owned.values()].includes(each)) ?? '';
      owned.set(`k${id}`, name);
    }
    for (const [id, name] of owned) expect([index, id, await usernameOf(id)]).toEqual([index, id, name]);
  }
  expect(owned.size).toBeGreaterThan(10);
});

test('the preview, the plan and its rows show the unique usernames that are written', async () => {
  for (const username of ['Ida.Falk', 'ida.falk3'])
    await create(app.key, { username, email: `x${username.length}@example.org` });
  const rows = ['u1,u1@example.org,Ida,Falk,', 'u2,bad,Ida,Falk,', 'u3,u3@example.org,IDA,falk,u1'];
  const plan = await importRows(rows, '&dry_run=true');
  const shown = await sendPreview(app.key, csv(HEAD, ...rows), 'profile=named');
  const names = ['ida.falk2', 'ida.falk', 'ida.falk4'];
  expect(shown.body.rows).toMatchObject(names.map((username) => ({ fields: { username } })));
  const planned = await rowsOf(app.key, plan.id, 'outcome=created');
  for (const [at, name] of [names[0], names[2]].entries())
    expect(planned[at].changes).toContainEqual({ field: 'username', old: null, new: name });
  expect(countsOf(await decide(app.key, plan.id, 'apply'))).toEqual({ created: 2, error: 1 });
  expect([await usernameOf('u1'), await usernameOf('u3')]).toEqual([names[0], names[2]]);
});

test('the username of a deleted user is free only for the same external id', async () => {
  const { id } = await importRows(['d1,d1@example.org,Del,Eted,']);
  // After a revert, the next file creates the user again.
  await decide(app.key, id, 'revert');
  await importRows(['d2,d2@example.org,Del,Eted,']);
  await importRows(['d1,d1@example.org,Del,Eted,']);
  expect([await usernameOf('d1'), await usernameOf('d2')]).toEqual(['del.eted', 'del.eted2']);
});

test('unique usernames avoid e-mail addresses of users and of the file, and a blank username fails', async () => {
  const columns = { Nr: 'ExternalId', Mail: 'Email' };
  await app.key.put('/import_profiles/mails', { columns, set: { Username: '{Login:unique}' } });
  await create(app.key, { username: 'other', email: 'taken@example.org' });
  const long = 'l'.repeat(254);
  const logins = ['Taken@example.org', 'e3@example.org', 'e3@example.org', long, long, ''];
  const rows = logins.map((login, at) => `e${at + 1},e${at + 1}@example.org,${login}`);
  const run = await runImport(app.key, csv('Nr,Mail,Login', ...rows), 'profile=mails');
  expect(countsOf(run)).toEqual({ created: 5, error: 1 });
  expect(run.problems[0]).toMatchObject({ line: 7, field: 'username', code: 'required' });
  const names = await Promise.all(['e1', 'e2', 'e3', 'e4', 'e5'].map(usernameOf));
  const numbered = ['Taken@example.org2', 'e3@example.org2', 'e3@example.org3'];
  expect(names).toEqual([...numbered, long, `${long.slice(1)}2`]);
});

test('each repetition of a name in a file costs one look-up', async () => {
  let lookups = 0;
  const directory = {
    findOwners: async (names: readonly string[]) => {
      lookups += names.length;
      return new Map<string, Owner>();
    },
    findReleasedUsernames: async () => new Map<string, string>(),
  };
  const names = new UniqueUsernames(directory, () => false);
  const rows = Array.from({ length: 500 }, (_, at) => ({ line: at + 1, username: 'n', externalId: '' }));
  for (let chunk = 0; chunk < 20; chunk++) await names.choose(rows);
  expect(lookups).toBe(10_000);
});
