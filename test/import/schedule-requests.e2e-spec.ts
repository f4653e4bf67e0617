import { beforeEach, expect, jest, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import {
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { IdempotencyRepository } from '../../src/idempotency/idempotency.repository.js';
import { DropFolder } from '../../src/import/schedule/drop-folder.js';
import { createUnavailableError } from '../../src/platform/common/errors.js';
import { TransactionRunner } from '../../src/platform/database/transaction-runner.js';
import { setUpApp } from '../support/app/app.js';
import type { Client, Json } from '../support/app/client.js';
import { addScheduledFile, setUpDropFolder, setUpSchedule } from '../support/app/drop-folder.js';
import { awaitRun, runImport } from '../support/app/imports.js';
import { databaseOf, inSeconds, problemOf } from '../support/app/people.js';
import { refusalOf } from '../support/app/problems.js';
import { fileOf } from '../support/data/user-file.js';

/** Requests of operators about the schedule: its state, files that are taken now, and uploads into the folder. */
const drop = setUpDropFolder();
const app = setUpApp({ ...setUpSchedule(drop), IMPORT_PATTERN: 'hr*.csv', IMPORT_OVERDUE_HOURS: '24' });
beforeEach(() => {
  for (const name of readdirSync(drop.folder))
    if (!['processing', 'done', 'failed'].includes(name))
      rmSync(join(drop.folder, name), { recursive: true });
});

const readSchedule = async (): Promise<Json> => (await app.key.get('/imports/schedule')).body;
const take = (): Promise<Json> => app.key.post('/imports/scheduled');

/** Uploads a file into the drop folder. */
const add = (name: string, client: Client = app.key, content = fileOf(randomUUID()), headers = {}) =>
  addScheduledFile(name, client, content, headers);

test('the schedule lists each file with the reason why it waits', async () => {
  drop.addFile('hr-new.csv', 'a,a,a@example.org');
  drop.addUser('hr-complete');
  drop.addFile('other.csv', 'a,a,a@example.org');
  symlinkSync('/etc/passwd', join(drop.folder, 'hr-link.csv'));
  writeFileSync(join(drop.folder, '.hidden.csv'), '');
  const { files, ...schedule } = await readSchedule();
  expect(files.map(({ name, reason, size }: Json) => [name, reason, size !== null])).toEqual([
    ['hr-complete.csv', 'complete, waits for the next check', true],
    ['hr-link.csv', 'a symbolic link', false],
    ['hr-new.csv', 'changed within the last 10 seconds, without a marker file', true],
    ['other.csv', 'the name does not match hr*.csv (IMPORT_PATTERN)', false],
  ]);
  expect(schedule).toEqual({
    folder: drop.folder,
    pattern: 'hr*.csv',
    cron: '0 0 1 1 *',
    time_zone: 'UTC',
    next_tick: `${new Date().getUTCFullYear() + 1}-01-01T00:00:00.000Z`,
    last_tick: expect.any(String),
    overdue_hours: 24,
    fault: null,
    datasets: [],
  });
});

test('the schedule marks data sets without a completed import as overdue', async () => {
  for (const dataset of ['late', 'timely']) await runImport(app.key, fileOf(dataset), `dataset=${dataset}`);
  const update = "UPDATE import_runs SET finished = ? WHERE dataset = 'late'";
  await databaseOf(app).execute(update, [inSeconds(-25 * 3600)]);
  const { datasets } = await readSchedule();
  expect(datasets).toMatchObject([
    { dataset: 'late', overdue: true, last_run: { state: 'completed' } },
    { dataset: 'timely', overdue: false },
  ]);
});

test('files can be imported before the next tick', async () => {
  drop.addUser('hr-now');
  drop.addFile('hr-new.csv', 'a,a,a@example.org');
  const { status, body } = await take();
  const taken = { name: 'hr-now.csv', run: expect.any(String), reason: '' };
  expect([status, body]).toEqual([200, { Count: 1, Results: [taken] }]);
  const run = await awaitRun(app.key, body.Results[0].run);
  expect(run).toMatchObject({ state: 'completed', actor: { kind: 'system' } });
  expect(drop.list()).toContain('hr-new.csv');
  expect((await take()).body).toEqual({ Count: 0, Results: [] });
  const { Results } = (await app.key.get('/audit?action=import.files_taken')).body;
  const changes = [{ field: 'files', new: ['hr-now.csv'] }];
  expect(Results[1]).toMatchObject({ actor: { kind: 'key' }, changes });
});

test('concurrent requests to import now import each file once', async () => {
  for (let n = 0; n < 5; n++) drop.addUser(`hr-${n}`);
  const answers = await Promise.all([take(), take(), take()]);
  const names = answers.flatMap(({ body }) => body.Results.map(({ name }: Json) => name as string));
  expect(names.sort()).toEqual(Array.from({ length: 5 }, (_, n) => `hr-${n}.csv`));
});

test('an uploaded file waits in the drop folder until it is taken', async () => {
  const answer = await add('hr-up.csv');
  expect([answer.status, answer.headers['location']]).toEqual([201, '/api/0.3/imports/schedule']);
  expect(answer.body).toMatchObject({ name: 'hr-up.csv', sha256: expect.any(String) });
  expect(problemOf(await add('hr-up.csv'))).toEqual([409, 'wrong_state']);
  expect(drop.list().filter((name) => name.startsWith('.'))).toEqual([]);
  const { Results } = (await app.key.get('/audit?action=import.file_added')).body;
  expect(Results[0]).toMatchObject({ actor: { kind: 'key' }, changes: [{ new: answer.body }] });
  expect((await take()).body.Results).toMatchObject([{ name: 'hr-up.csv', run: expect.any(String) }]);
});

const BAD_NAMES = ['x.csv', 'hr.txt', 'hr\u202e.csv', 'hr\n.csv', 'hr\0.csv', 'hr.csv.done'];
test.each([...BAD_NAMES, `hr${'x'.repeat(250)}.csv`])(
  'a file named %j cannot be uploaded into the drop folder',
  async (name) => {
    expect(refusalOf(await add(name))).toEqual([422, 'file invalid_value']);
    expect(drop.list()).toEqual(['done', 'failed', 'processing']);
  },
);

test.each(['../hr.csv', '/etc/hr.csv', String.raw`..\hr.csv`, 'processing/hr.csv'])(
  'an upload named %j cannot leave the drop folder',
  async (name) => {
    await add(name);
    expect(drop.list().filter((entry) => !entry.endsWith('.done'))).toEqual(
      expect.arrayContaining(['done', 'failed', 'processing']),
    );
    expect([...drop.list('processing'), ...readdirSync(join(drop.folder, '..'))]).not.toContain('hr.csv');
  },
);

test('an upload that ends early leaves nothing in the drop folder', async () => {
  const form = `--x\r\nContent-Disposition: form-data; name="file"; filename="hr.csv"\r\n\r\nExternalId`;
  const headers = { 'content-type': 'multipart/form-data; boundary=x' };
  expect((await app.key.send('POST', '/imports/schedule/files', form, headers)).status).toBe(400);
  jest
    .spyOn(DropFolder.prototype, 'publishDraft')
    .mockRejectedValueOnce(Object.assign(new Error(), { code: 'EEXIST' }));
  expect(problemOf(await add('hr.csv'))).toEqual([409, 'wrong_state']);
  expect(drop.list()).toEqual(['done', 'failed', 'processing']);
});

test('simultaneous uploads of one name add one file', async () => {
  const files = ['a', 'b', 'c'].map(fileOf);
  const headers = files.map(() => ({ 'idempotency-key': randomUUID() }));
  const send = (at: number, key = at) => add('hr-race.csv', app.key, files[at], headers[key]);
  const answers = await Promise.all([send(0), send(1), send(2)]);
  const winner = answers.findIndex(({ status }) => status === 201);
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
  expect((await send(winner)).headers['idempotency-replayed']).toBe('true');
  expect(refusalOf(await send((winner + 1) % files.length, winner))[0]).toBe(422);
  expect(drop.list().filter((name) => /race|^\./.test(name))).toEqual(['hr-race.csv', 'hr-race.csv.done']);
  expect(readFileSync(join(drop.folder, 'hr-race.csv'), 'utf8')).toBe(files[winner]);
});

test.each([
  ['is not recorded', {}, () => jest.spyOn(app.app.get(TransactionRunner), 'run')],
  [
    'has no stored response',
    { 'idempotency-key': randomUUID() },
    () => jest.spyOn(app.app.get(IdempotencyRepository), 'insert'),
  ],
])('an upload that %s leaves nothing in the drop folder', async (_, headers, spy) => {
  spy().mockRejectedValueOnce(createUnavailableError('away'));
  const send = () => add('hr-away.csv', app.key, fileOf('away'), headers);
  expect((await send()).status).toBe(503);
  expect(drop.list()).toEqual(['done', 'failed', 'processing']);
  expect((await send()).status).toBe(201);
});

test('an upload does not follow links in the drop folder', async () => {
  const target = join(drop.folder, '..', 'target');
  writeFileSync(target, 'keep');
  symlinkSync(target, join(drop.folder, 'hr-link.csv'));
  symlinkSync(target, join(drop.folder, 'hr-marker.csv.done'));
  expect(problemOf(await add('hr-link.csv'))).toEqual([409, 'wrong_state']);
  expect((await add('hr-marker.csv')).status).toBe(201);
  expect(readFileSync(target, 'utf8')).toBe('keep');
});

test('the schedule reports a missing drop folder', async () => {
  renameSync(drop.folder, `${drop.folder}-away`);
  expect(await readSchedule()).toMatchObject({ fault: 'ENOENT', files: [] });
  expect(problemOf(await take())).toEqual([503, 'unavailable']);
  expect(problemOf(await add('hr.csv'))).toEqual([503, 'unavailable']);
  renameSync(`${drop.folder}-away`, drop.folder);
  mkdirSync(join(drop.folder, 'hr-folder.csv'));
  expect((await readSchedule()).files).toMatchObject([{ reason: 'a folder' }]);
});
