import { afterEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { type ClientRequest, request } from 'node:http';
import { API_KEY, setUpApp } from '../support/app/app.js';
import type { Answer } from '../support/app/client.js';
import { countsOf, awaitRun, upload } from '../support/app/imports.js';
import { fileOf } from '../support/data/user-file.js';
import { databaseOf, problemOf } from '../support/app/people.js';
import { waitUntil } from '../support/data/wait.js';

/** Uploads of files over HTTP, and the uploads that are refused. */
const app = setUpApp();
let n = 0;

const countOrphanParts = async (): Promise<number> => {
  const rows = await databaseOf(app).query<{ run_id: string }>(
    'SELECT DISTINCT run_id FROM import_file_parts WHERE run_id NOT IN (SELECT id FROM import_runs)',
  );
  return rows.length;
};
afterEach(async () => {
  expect(await countOrphanParts()).toBe(0);
});

const BOUNDARY = 'frontier';
const field = (name: string, value: string) =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const filePart = (content: string, name = 'Nächte.csv') =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: text/csv\r\n\r\n${content}\r\n`;
const END = `--${BOUNDARY}--\r\n`;
const sendForm = (body: string, query = ''): Promise<Answer> =>
  app.key.send('POST', `/imports${query}`, body, {
    'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
  });
const newFile = () => fileOf(`m${++n}`);

describe('a multipart import upload', () => {
  const upsert = field('mode', 'upsert');
  test('replaces hidden characters in the file name', async () => {
    const sent = 'a\0b\u202ecsv\u200b.Nächte\u0085.exe';
    const shown = sent.replace(/[\0\u202e\u200b\u0085]/g, '\ufffd');
    const file = newFile();
    const name = encodeURIComponent(sent);
    const named = filePart(file).replace('filename="Nächte.csv"', `filename*=utf-8''${name}`);
    const header = { 'content-type': 'text/csv', 'x-file-name': name };
    for (const path of ['/imports?dry_run=true', '/imports/preview']) {
      expect((await sendForm(named + END, path.slice(8))).body.file.name).toBe(shown);
      expect((await app.key.send('POST', path, file, header)).body.file.name).toBe(shown);
    }
    const { text } = await app.key.get('/audit?action=import.started&limit=2');
    expect(text).not.toMatch(/\u202e|\u200b/);
  });

  test('accepts options before and after the file', async () => {
    const body = upsert + filePart(newFile()) + field('dataset', 'form') + END;
    const answer = await sendForm(body, '?missing=report');
    expect([answer.status, answer.headers['location']]).toEqual([202, `/api/0.3/imports/${answer.body.id}`]);
    expect(answer.body).toMatchObject({
      file: { name: 'Nächte.csv' },
      options: { mode: 'upsert', dataset: 'form', missing: 'report', blank_cells: 'clear' },
    });
    expect(countsOf(await awaitRun(app.key, answer.body.id))).toEqual({ created: 1 });
  });
  const file = filePart(newFile());
  const huge = 'x'.repeat(2 ** 20);
  const many = Array.from({ length: 40 }, (_, i) => field(`f${i}`, '')).join('');
  test.each<[what: string, query: string, body: string, why: RegExp]>([
    ['an invalid option value', '', field('mode', 'sideways') + file + END, /mode must be one of/],
    ['a repeated option', '', upsert + upsert + file + END, /Field mode occurs more than once/],
    ['fields without a name', '', field('', 'a') + field('', 'a') + file + END, /no name/],
    ['an option that is also in the query', '?mode=upsert', upsert + file + END, /the query or in the form/],
    ['two files', '', file + file + END, /more than one file/],
    ['no file', '', upsert + END, /has no file/],
    ['a missing final boundary', '', file.slice(0, -8), /is incomplete/],
    ['forty fields', '', many + file + END, /more than 30 fields/],
    ['a field of a megabyte', '', field('dataset', huge) + file + END, /dataset is longer than/],
  ])('with %s is refused', async (_, query, body, why) => {
    const answer = await sendForm(body, query);
    expect(problemOf(answer)).toEqual([400, 'invalid_parameter']);
    expect(answer.body.detail).toMatch(why);
  });
});

test.each([
  ['mode', 'sideways'],
  ['missing', 'delete'],
  ['dataset', 'a b'],
  ['dataset', ''],
  ['dataset', 'scim'],
  ['part', 'a b'],
  ['blank_cells', 'maybe'],
  ['adopt', 'phone'],
  ['dry_run', 'yes'],
  ['delimiter', '#'],
  ['encoding', 'klingon'],
  ['default_roles', 'Emperor'],
  ['ignore_unknown_columns', '1'],
  ['allow_privileged', 'TRUE'],
  ['expected_rows', '0'],
  ['expected_rows', '-1'],
  ['shoe_size', '43'],
])('an import upload with %s=%j is refused', async (name, value) => {
  const answer = await upload(app.key, newFile(), `${name}=${encodeURIComponent(value)}`);
  expect(problemOf(answer)).toEqual([400, 'invalid_parameter']);
  expect(answer.body.detail).toContain(name);
});

test.each<[string, Record<string, string>, number, string]>([
  ['XML', { 'content-type': 'application/xml' }, 415, 'unsupported_media_type'],
  ['a gzip file', { 'content-type': 'text/csv', 'content-encoding': 'gzip' }, 415, 'unsupported_media_type'],
  ['a form without a boundary', { 'content-type': 'multipart/form-data' }, 400, 'invalid_parameter'],
])('an import upload of %s is refused', async (_, headers, status, code) => {
  expect(problemOf(await app.key.send('POST', '/imports', newFile(), headers))).toEqual([status, code]);
});

/** Starts an upload without sending its body. */
function beginUpload(headers: Record<string, string>): ClientRequest {
  const sent = request(`${app.url}/api/0.3/imports`, {
    method: 'POST',
    headers: { 'x-api-key': API_KEY, 'content-type': 'text/csv', ...headers },
  });
  return sent.on('error', () => undefined);
}

/** Sends data until the service responds or closes the connection. @returns the status and the megabytes sent. */
async function flood(headers: Record<string, string>, megabytes: number): Promise<[number, number]> {
  const sent = beginUpload(headers);
  const answered = once(sent, 'response');
  answered.catch(() => undefined);
  let status = 0;
  void answered.then(([response]) => (status = response.statusCode));
  sent.flushHeaders();
  const chunk = Buffer.alloc(2 ** 20, 'x');
  let megabyte = 0;
  for (; megabyte < megabytes && status === 0 && !sent.destroyed; megabyte++) {
    if (!sent.write(chunk)) await Promise.race([once(sent, 'drain'), answered, once(sent, 'close')]);
  }
  await answered;
  sent.destroy();
  return [status, megabyte];
}

test.each<[string, Record<string, string>, number, number]>([
  ['is refused early with Content-Length', { 'content-length': String(101 * 2 ** 20) }, 101, 20],
  ['is refused during a chunked upload', { 'transfer-encoding': 'chunked' }, 300, 150],
])('an import upload over the size limit %s', async (_, headers, size, most) => {
  const [status, megabytes] = await flood(headers, size);
  expect(status).toBe(413);
  expect(megabytes).toBeLessThan(most);
});

test('an aborted import upload leaves no stored file parts', async () => {
  const sent = beginUpload({ 'content-length': '9000000' });
  await new Promise<void>((resolve) => sent.write(Buffer.alloc(2_000_000, 'x'), () => resolve()));
  await waitUntil(async () => (await countOrphanParts()) === 1);
  sent.destroy();
  await waitUntil(async () => (await countOrphanParts()) === 0);
  expect((await app.key.get('/status')).status).toBe(200);
});
