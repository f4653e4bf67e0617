import { beforeAll, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Answer, Client } from '../support/app/client.js';
import { aKey } from '../support/app/credentials.js';
import { awaitRun, csv, expectRun, findUser, readRun, runImport, upload } from '../support/app/imports.js';
import { HEAD, fileOf, person } from '../support/data/user-file.js';
import { problemOf } from '../support/app/people.js';

/** A key with the scope of one data set starts, decides and reverts only runs of this data set. */
const app = setUpApp();
let hr: Client;
let reader: Client;
let n = 0;
beforeAll(async () => {
  hr = await createKey('imports:write:hr');
  reader = await createKey('imports:read');
});

const createKey = async (...scopes: string[]): Promise<Client> => (await aKey(app, ...scopes)).client;
const file = () => fileOf(`D-${++n}`);
const OTHERS = ['dataset=it', 'dataset=HR', 'dataset=hr.2', ''];
const REFUSED = [403, 'insufficient_scope'];
const decide = (client: Client, id: string, word: string): Promise<Answer> =>
  client.post(`/imports/${id}/${word}`);

test.each(OTHERS)('a key for the data set hr cannot upload with %j', async (query) => {
  const { Count } = (await app.key.get('/imports')).body;
  const refused = await upload(hr, file(), query);
  expect(problemOf(refused)).toEqual(REFUSED);
  expect(refused.body.detail).toMatch(/lacks the scope imports:write:(it|HR|hr\.2|default)\.$/);
  expect((await app.key.get('/imports')).body.Count).toBe(Count);
});

test('an import form needs the data set of the API key', async () => {
  const sendForm = (dataset: string): Promise<Answer> => {
    const part = (head: string, text: string) =>
      `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${text}\r\n`;
    const body = `${part('name="file"; filename="a.csv"', file())}${part('name="dataset"', dataset)}--b--\r\n`;
    return hr.send('POST', '/imports', body, { 'content-type': 'multipart/form-data; boundary=b' });
  };
  expect(problemOf(await sendForm('it'))).toEqual(REFUSED);
  expect((await sendForm('hr')).status).toBe(202);
});

test.each(['apply', 'cancel', 'reject', 'revert'])(
  'a key for the data set hr can %s no other imports',
  async (word) => {
    const dryRun = `dry_run=${String(word !== 'revert')}`;
    const own = await runImport(app.key, file(), `${dryRun}&dataset=hr`);
    const other = await runImport(app.key, file(), `${dryRun}&dataset=it`);
    expect(problemOf(await decide(hr, other.id, word))).toEqual(REFUSED);
    expect((await readRun(reader, other.id)).state).toBe(other.state);
    expect((await decide(hr, own.id, word)).status).toBe(202);
  },
);

test('applying a completed import of another data set returns 403', async () => {
  const ended = await runImport(app.key, file(), 'dataset=it');
  expect(problemOf(await decide(hr, ended.id, 'apply'))).toEqual(REFUSED);
});

test('imports:read permits no uploads and imports:write permits no reading', async () => {
  const { id } = (await upload(hr, file(), 'dataset=hr')).body;
  expect(problemOf(await hr.get(`/imports/${id as string}`))).toEqual(REFUSED);
  expect((await reader.get(`/imports/${id as string}`)).status).toBe(200);
  expect(problemOf(await upload(reader, file()))).toEqual(REFUSED);
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
