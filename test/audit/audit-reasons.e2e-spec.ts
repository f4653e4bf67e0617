import { describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { csv, runImport, awaitRun } from '../support/app/imports.js';
import { problemOf } from '../support/app/people.js';
import { provision, scimOf } from '../support/app/scim.js';

/** Reasons of changes, and names of actors and targets. */
const app = setUpApp();

const withReason = (reason: string) => app.key.with({ 'x-audit-reason': encodeURIComponent(reason) });
const read = async (query: string): Promise<Json[]> => (await app.key.get(`/audit?${query}`)).body.Results;
const HEAD = 'ExternalId,Username,Email';

describe('a reason in X-Audit-Reason', () => {
  test.each([
    'left the company',
    'Übergabe an “Müller”, 田中',
    '<img src=x>',
    '100 % sure',
    'e\u0301🙂',
    'x'.repeat(500),
  ])('is stored as sent: %s', async (reason) => {
    const { uuid } = await create(app.key);
    expect((await withReason(reason).put(`/users/${uuid}`, { status: 'Blocked' })).status).toBe(200);
    const [event] = await read(`target=${uuid}&action=user.blocked`);
    expect(event.reason).toBe(reason.normalize('NFC'));
    expect(event.changes).toEqual([{ field: 'status', old: 'Active', new: 'Blocked' }]);
  });

  test('is masked where it contains the id of a session', async () => {
    const token = randomBytes(32).toString('base64url');
    const { uuid } = await create(app.key);
    await withReason(`my cookie ${token}`).put(`/users/${uuid}`, { phone: '1' });
    expect((await read(`target=${uuid}`))[0].reason).toBe('my cookie ***');
  });

  test('applies only to its own request', async () => {
    const { uuid } = await create(app.key);
    await withReason('once').put(`/users/${uuid}`, { phone: '1' });
    await app.key.put(`/users/${uuid}`, { phone: '2' });
    expect((await read(`target=${uuid}`)).map(({ reason }) => reason)).toEqual(['', 'once', '']);
  });

  test('is stored in every event of its request', async () => {
    const { uuid, username } = await create(app.key, { password: 'a long enough password' });
    for (const _ of [1, 2]) {
      const login = { username, password: 'a long enough password' };
      expect((await app.guest.post('/sessions/login', login)).status).toBe(200);
    }
    await withReason('phone lost').delete(`/users/${uuid}/sessions`);
    const found = await read('field=given_reason&limit=100');
    const ended = found.filter(({ reason }) => reason === 'phone lost');
    expect(ended.map(({ action }) => action)).toEqual(['session.ended', 'session.ended']);
  });

  test('is stored for API keys, approvals and SCIM requests', async () => {
    const key = (await withReason('for the night').post('/api_keys', { name: 'night' })).body;
    expect((await read(`target=${key.id}`))[0].reason).toBe('for the night');
    const run = await runImport(app.key, csv(HEAD, 'R1,r1,r1@example.org'), 'dry_run=true');
    await awaitRun(app.key, (await withReason('looked at it').post(`/imports/${run.id}/apply`)).body.id);
    expect((await read(`target=${run.id}&action=import.approved`))[0].reason).toBe('looked at it');
    expect((await read(`actor=${run.id}&action=user.created`)).map(({ reason }) => reason)).toEqual(['']);
    const user = await provision(scimOf(app));
    const headers = { 'x-audit-reason': 'scim', 'x-api-key': String(app.key.headers['x-api-key']) };
    await app.guest.fetch('DELETE', `/scim/v2/Users/${user.id}`, undefined, headers);
    expect((await read(`target=${user.id}`))[0]).toMatchObject({ action: 'user.deleted', reason: 'scim' });
  });

  test('is stored without the secret of an API key', async () => {
    const { uuid } = await create(app.key);
    const { key } = (await app.key.post('/api_keys', { name: 'shown' })).body;
    await withReason(`see ${key}`).put(`/users/${uuid}`, { phone: '1' });
    const [event] = await read(`target=${uuid}&action=user.updated`);
    expect(event.reason).not.toContain(key.slice(-20));
  });

  test('is included in the CSV export of the audit', async () => {
    const [head, ...lines] = (await app.key.get('/audit.csv?field=given_reason')).text.trim().split('\r\n');
    expect(head).toMatch(/,Reason$/);
    expect(lines.some((line) => line.endsWith(',left the company'))).toBe(true);
  });

  test.each([
    ['too long', 'x'.repeat(501)],
    ['invalid UTF-8', '%E4'],
    ['invalid percent-encoding', '50%'],
    ['line break', 'a%0Ab'],
    ['NUL character', 'a%00b'],
    ['right-to-left override', 'a%E2%80%AEb'],
    ['too many combining marks', 'a%CC%81'.padEnd(200, '%CC%81')],
  ])('is refused with 400: %s', async (_, header) => {
    const { uuid } = await create(app.key);
    const answer = await app.key.put(`/users/${uuid}`, { phone: '1' }, { 'x-audit-reason': header });
    expect(problemOf(answer)).toEqual([400, 'invalid_parameter']);
    expect(answer.body.detail).toContain('X-Audit-Reason');
    expect((await app.key.get(`/users/${uuid}`)).body.phone).toBe('');
  });

  test.each(['', '%20', ' '])('is ignored if blank: %p', async (header) => {
    const { uuid } = await create(app.key);
    await app.key.put(`/users/${uuid}`, { phone: '1' }, { 'x-audit-reason': header });
    expect((await read(`target=${uuid}&action=user.updated`))[0].reason).toBe('');
  });
});

describe('names in the audit', () => {
  test('are current, or empty for a deleted user', async () => {
    const user = await create(app.key);
    const readName = async () => (await read(`target=${user.uuid}`))[0].target.name;
    expect(await readName()).toBe(user.username);
    const [{ actor }] = await read(`target=${user.uuid}`);
    expect(actor).toMatchObject({ kind: 'key', name: expect.stringMatching(/./) });
    await app.key.put(`/users/${user.uuid}`, { username: `${user.username}-new` });
    expect(await readName()).toBe(`${user.username}-new`);
    const run = await runImport(app.key, csv(HEAD, 'N1,n1,n1@example.org'));
    expect((await read(`target=${run.id}&action=import.created`))[0].target.name).toBe('upload.csv');
    const group = (await scimOf(app).post('/Groups', { displayName: 'Pilots' })).body;
    expect((await read(`target=${group.id}`))[0].target).toEqual({
      kind: 'group',
      id: group.id,
      name: 'Pilots',
    });
    const gone = await provision(scimOf(app));
    await scimOf(app).delete(`/Users/${gone.id}`);
    expect((await read(`target=${gone.id}`))[0].target.name).toBe('');
  });
  test('are empty for a login with an unknown username', async () => {
    await app.guest.post('/sessions/login', { username: 'nobody-at-all', password: 'x' });
    const [event] = await read('action=session.login_failed');
    expect(event).toMatchObject({ actor: { name: '' }, target: { name: '' } });
  });
});
