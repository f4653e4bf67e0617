import { beforeAll, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Answer, Client } from '../support/app/client.js';
import { aKey } from '../support/app/credentials.js';
import { addScheduledFile, setUpDropFolder, setUpSchedule } from '../support/app/drop-folder.js';
import {
  awaitRun,
  csv,
  expectRun,
  findUser,
  readFailed,
  readRun,
  runImport,
  sendPreview,
  upload,
} from '../support/app/imports.js';
import { OPERATIONS } from '../support/app/operations.js';
import { HEAD, fileOf, people, person } from '../support/data/user-file.js';
import { problemOf } from '../support/app/people.js';

/** A key with the scope of one data set starts, decides and reverts only runs of this data set. */
const drop = setUpDropFolder();
const app = setUpApp({ ...setUpSchedule(drop), IMPORT_OPTIONS: 'dataset=hr' });
let hr: Client;
let n = 0;
const createKey = async (...scopes: string[]): Promise<Client> => (await aKey(app, ...scopes)).client;
const file = () => fileOf(`D-${++n}`);
const REFUSED = [403, 'insufficient_scope'];
const decide = (client: Client, id: string, word: string): Promise<Answer> =>
  client.post(`/imports/${id}/${word}`);
const sendForm = (client: Client, dataset: string): Promise<Answer> => {
  const part = (head: string, text: string) =>
    `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${text}\r\n`;
  const body = `${part('name="file"; filename="a.csv"', file())}${part('name="dataset"', dataset)}--b--\r\n`;
  return client.send('POST', '/imports', body, { 'content-type': 'multipart/form-data; boundary=b' });
};

/** Ids of runs of the data set `it`. */
const theirs = { plan: '', completed: '' };
beforeAll(async () => {
  hr = await createKey('imports:write:hr', 'imports:read', 'users:read', 'users:write');
  theirs.plan = (await runImport(app.key, file(), 'dry_run=true&dataset=it')).id;
  theirs.completed = (await runImport(app.key, `${file()}bad,,\r\n`, 'dataset=it')).id;
  const profile = { dataset: 'it', columns: { Nr: 'ExternalId' } };
  expect((await app.key.put('/import_profiles/theirs', profile)).status).toBe(200);
});

const putProfile = (name: string, profile: object) => (client: Client) =>
  client.put(`/import_profiles/${name}`, { columns: { Nr: 'ExternalId' }, ...profile });
const bulk = { where: { status: 'Active' }, change: { phone: '1' }, reason: 'test' };
/** Requests whose effect is not confined to the data set `hr`. */
const OTHERS: [route: string, send: (client: Client) => Promise<Answer>][] = [
  ['POST /imports', (client) => upload(client, file(), 'dataset=it')],
  ['POST /imports', (client) => upload(client, file(), 'dataset=HR')],
  ['POST /imports', (client) => upload(client, file(), 'dataset=hr.2')],
  ['POST /imports', (client) => upload(client, file())],
  ['POST /imports', (client) => upload(client, file(), 'profile=theirs')],
  ['POST /imports', (client) => upload(client, file(), `dataset=hr&corrects=${theirs.completed}`)],
  [
    'POST /imports',
    async (client) => upload(client, await readFailed(app.key, theirs.completed), 'dataset=hr'),
  ],
  ['POST /imports', (client) => sendForm(client, 'it')],
  ['POST /imports', (client) => client.post('/imports', bulk)],
  ['POST /imports/preview', (client) => sendPreview(client, file(), 'dataset=it')],
  ['POST /imports/scheduled', (client) => client.post('/imports/scheduled')],
  ['POST /imports/schedule/files', (client) => addScheduledFile('a.csv', client, file())],
  ['PUT /import_profiles/{name}', putProfile('new', { dataset: 'it' })],
  ['PUT /import_profiles/{name}', putProfile('theirs', { dataset: 'hr' })],
  ['PUT /import_profiles/{name}', putProfile('new', { dataset: 'hr', pattern: '*' })],
  ['DELETE /import_profiles/{name}', (client) => client.delete('/import_profiles/theirs')],
];
for (const word of ['apply', 'cancel', 'reject', 'revert'])
  for (const run of ['plan', 'completed'] as const)
    OTHERS.push([`POST /imports/{import_id}/${word}`, (client) => decide(client, theirs[run], word)]);

test.each(OTHERS)('a key for the data set hr cannot send %s for another data set (%#)', async (_, send) => {
  const readAll = async () => {
    const [runs, profiles] = [await app.key.get('/imports?limit=100'), await app.key.get('/import_profiles')];
    return [runs.body, profiles.body, drop.list()];
  };
  const before = await readAll();
  const refused = await send(hr);
  expect(problemOf(refused)).toEqual(REFUSED);
  expect(refused.body.detail).toMatch(/lacks the scope imports:write(:(it|HR|hr\.2|default))?\.$/);
  expect(await readAll()).toEqual(before);
});

test('the requests above include every unsafe route of imports', () => {
  const routes = OPERATIONS.map(({ method, path }) => `${method} ${path.replace('/api/0.3', '')}`);
  const unsafe = routes.filter((route) => /^(?!GET).* \/import/.test(route));
  expect(new Set(OTHERS.map(([route]) => route))).toEqual(new Set(unsafe));
});

test('a key for the data set hr sends and decides its own imports', async () => {
  expect((await sendForm(hr, 'hr')).status).toBe(202);
  for (const word of ['apply', 'cancel', 'reject', 'revert']) {
    const own = await runImport(app.key, file(), `dry_run=${String(word !== 'revert')}&dataset=hr`);
    expect((await decide(hr, own.id, word)).status).toBe(202);
  }
});

const LEAVERS = 'dataset=leavers&missing=block';
const SENDER = ['users:write', 'imports:write'];
const ONE = csv(HEAD, ...people('leaver', 1));
const BULK = { where: { managed_by: 'leavers' }, change: { status: 'Blocked' }, reason: 'End of term' };
test.each<[string, state: string, send: (client: Client) => Promise<Answer>]>([
  ['a file', 'needs_approval', (c) => upload(c, ONE, LEAVERS)],
  ['a dry run', 'planned', (c) => upload(c, ONE, `${LEAVERS}&dry_run=true`)],
  ['a bulk change', 'needs_approval', (c) => c.post('/imports', BULK)],
])(
  'a key with scopes cannot approve %s that it sent and that a guard has stopped',
  async (_, state, send) => {
    await runImport(app.key, csv(HEAD, ...people('leaver', 20)), 'dataset=leavers');
    const [sender, other] = [await createKey(...SENDER), await createKey(...SENDER)];
    const run = await awaitRun(app.key, (await send(sender)).body.id);
    expect(run.state).toBe(state);
    expect(problemOf(await decide(sender, run.id, 'apply'))).toEqual([403, 'forbidden']);
    expect((await readRun(app.key, run.id)).state).toBe(state);
    expect((await decide(other, run.id, 'apply')).status).toBe(202);
    const { id } = await awaitRun(app.key, run.id);
    expect((await decide(app.key, id, 'revert')).status).toBe(202);
  },
);

test('applying a completed import of another data set returns 403', async () => {
  const ended = await runImport(app.key, file(), 'dataset=it');
  expect(problemOf(await decide(hr, ended.id, 'apply'))).toEqual(REFUSED);
});

test('a key for one data set cannot change users of another data set', async () => {
  const people = ['a', 'b'].map((letter) => `F-${letter}-${++n}`);
  const lines = (phone: string, ids = people) => csv(`${HEAD},Phone`, ...ids.map((id) => person(id, phone)));
  expect((await runImport(app.key, lines('1'), 'dataset=it')).state).toBe('completed');
  const own = `F-own-${++n}`;
  const send = async (client: Client, text: string) =>
    awaitRun(app.key, (await upload(client, text, 'dataset=hr')).body.id);
  const run = await send(hr, lines('2', [...people, own]));
  expectRun(run, 'completed_with_errors', { created: 1, error: 2 });
  expect(run.problems[0].code).toBe('insufficient_scope');
  expect((await findUser(app.key, people[0] ?? '')).phone).toBe('1');
  // Unchanged rows succeed, and their users stay in the other data set.
  expectRun(await send(hr, lines('1')), 'completed', { unchanged: 2 });
  expect((await app.key.get('/users/search?managed_by=it')).body.Count).toBeGreaterThanOrEqual(2);
  const both = await createKey('imports:write:hr', 'imports:write:it');
  expectRun(await send(both, lines('3')), 'completed', { updated: 2 });
});
