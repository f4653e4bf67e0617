import { expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Answer } from '../support/app/client.js';

/** Conditional requests on profiles, with `ETag`, `If-Match` and `If-None-Match`. */
const app = setUpApp();

const COLUMNS = { Nr: 'ExternalId', Login: 'Username', Mail: 'Email' };
const save = (name: string, dataset: string, headers: Record<string, string> = {}) =>
  app.key.put(`/import_profiles/${name}`, { dataset, columns: COLUMNS }, headers);

test('saving an import profile returns 412 if If-Match does not match', async () => {
  const path = '/import_profiles/tagged';
  const put = (dataset: string, headers: Record<string, string>) => save('tagged', dataset, headers);
  const remove = (tag: string) => app.key.send('DELETE', path, undefined, { 'if-match': tag });
  const created = await put('one', { 'if-none-match': '*' });
  expect(created.status).toBe(200);
  const tag = created.headers['etag'] ?? '';
  const read = await app.key.get(path);
  expect(tag).toMatch(/^"[0-9a-f]{32}"$/);
  expect(read.headers['etag']).toBe(tag);
  const expectRefused = async (answer: Promise<Answer>, detail: string) => {
    expect((await answer).body).toMatchObject({ status: 412, code: 'precondition_failed', detail });
    expect((await app.key.get(path)).body.profile.dataset).toBe('one');
  };
  await expectRefused(put('two', { 'if-none-match': '*' }), 'The profile already exists.');
  for (const other of ['"00000000000000000000000000000000"', `W/${tag}`, tag.slice(0, -2), ''])
    await expectRefused(
      put('two', { 'if-match': other }),
      'The profile has changed since it was read. Read it again.',
    );
  await expectRefused(remove('"x"'), 'The profile has changed since it was read. Read it again.');
  const changed = await put('two', { 'if-match': `"x", ${tag}` });
  expect([changed.status, changed.headers['etag']]).toEqual([200, expect.not.stringContaining(tag)]);
  expect((await put('three', { 'if-match': tag })).status).toBe(412);
  expect((await put('three', { 'if-match': '*' })).status).toBe(200);
  expect((await remove('*')).status).toBe(204);
  expect((await put('four', { 'if-match': '*' })).body.detail).toBe('The profile does not exist.');
  // A built-in profile counts as existing.
  const ships = await app.key.get('/import_profiles/okta');
  expect((await save('okta', 'own', { 'if-none-match': '*' })).status).toBe(412);
  expect((await save('okta', 'own', { 'if-match': ships.headers['etag'] ?? '' })).status).toBe(200);
  await app.key.delete('/import_profiles/okta');
});

test('only one of four concurrent profile updates with the same If-Match succeeds', async () => {
  const { headers } = await save('raced', 'first');
  const read = { 'if-match': headers['etag'] ?? '' };
  const answers = await Promise.all(['a', 'b', 'c', 'd'].map((dataset) => save('raced', dataset, read)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412]);
  await app.key.delete('/import_profiles/raced');
});
