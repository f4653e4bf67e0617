import { beforeAll, describe, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import { readAuditPages } from '../support/app/audit-rows.js';
import type { Json } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { PASSWORD, databaseOf } from '../support/app/people.js';
import { eventAt, insertEvents } from '../support/app/sealed-audit.js';

/** The audit API for operators. */
const app = setUpApp();

const readAudit = async (query: string): Promise<Json[]> =>
  (await app.key.get(`/audit?${query}`)).body.Results;
const readActions = async (query: string) => (await readAudit(query)).map(({ action }) => action);
const walk = async (path: string): Promise<Json[]> => (await readAuditPages(app.key, path)).flat();

test('the audit event of a change lists the changed fields', async () => {
  const user = await create(app.key);
  const changed = await app.key.put(`/users/${user.uuid as string}`, { phone: '7', password: PASSWORD });
  const [event, created] = await readAudit(`target=${user.uuid as string}`);
  expect(event).toMatchObject({
    action: 'user.updated',
    actor: { kind: 'key' },
    target: { kind: 'user', id: user.uuid },
    changes: [{ field: 'phone', old: '', new: '7' }, { field: 'password' }],
    request_id: changed.headers['x-request-id'],
    ip: '127.0.0.1',
  });
  expect(event.time >= changed.body.updated).toBe(true);
  expect(Object.keys(event.changes[1])).toEqual(['field']);
  expect(created.action).toBe('user.created');
  expect(JSON.stringify([event, created])).not.toContain('argon2');
});

describe('audit filters', () => {
  let user: Json;
  beforeAll(async () => {
    user = await create(app.key, { password: PASSWORD });
    const self = await app.login(user.username, PASSWORD);
    await self.put(`/users/${user.uuid as string}`, { about_me: 'x' });
    await app.key.put(`/users/${user.uuid as string}`, { status: 'Blocked' });
  });
  /** Other filters are tested in `audit-filters`. */
  test('accept the UUID of an actor in upper case', async () => {
    const own = await readActions(`actor=${user.uuid.toUpperCase() as string}`);
    expect(own).toEqual(['user.updated', 'session.created']);
  });
  test.each([
    'actor=me',
    'action=user.erased',
    'field=a%20b',
    'since=yesterday',
    'who=x',
    'limit=0',
    'after=2',
  ])('return 400 for %s', async (query) => {
    const answer = await app.key.get(`/audit?${query}`);
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_parameter']);
    expect(answer.body.detail).toContain(query.split('=')[0]);
  });
});

test('the first audit page contains the only match among 10,000 events', async () => {
  const user = await create(app.key, { about_me: 'before the flood' });
  const changes = '[{"field":"phone","old":"","new":"1"}]';
  const flood = Array.from({ length: 10_050 }, (_, i) => {
    const id = `ffffffff-0000-7000-8000-${i.toString(16).padStart(12, '0')}`;
    return eventAt(Date.now(), { id, target_id: user.uuid as string, changes });
  });
  await insertEvents(databaseOf(app), flood);
  const query = `/audit?target=${user.uuid as string}&field=about_me`;
  const [first, ...more] = await readAuditPages(app.key, query);
  expect({ first: first?.map(({ action }) => action), more }).toEqual({ first: ['user.created'], more: [] });
  await databaseOf(app).execute("DELETE FROM audit_events WHERE id LIKE 'ffffffff%'");
});

test('GET /audit.csv exports events with values that are safe for spreadsheets', async () => {
  const user = await create(app.key, { username: `=cmd-${Date.now()}` });
  const answer = await app.key.get(`/audit.csv?target=${user.uuid as string}`);
  expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8');
  const [head, line, ...more] = answer.text.split('\r\n');
  expect(head).toBe(
    '\ufeffTime,ActorKind,Actor,Action,TargetKind,Target,Changes,RequestId,Ip,Id,StartedBy,ApprovedBy,Reason',
  );
  expect(line).toMatch(/^\d{4}-.*Z,key,[0-9a-f-]{36},user.created,user,/);
  expect(line).toContain(`""new"":""=cmd-`);
  expect(more).toEqual(['']);
});

test('the audit names the actor of each change of a user', async () => {
  const user = await create(app.key, { password: PASSWORD, phone: '1' });
  const path = `/users/${user.uuid as string}`;
  await (await app.login(user.username, PASSWORD)).put(path, { phone: '2', about_me: 'x' });
  await app.key.put(path, { status: 'Blocked', about_me: '' });
  const query = `/audit?target=${user.uuid as string}`;
  const { Count, Results } = (await app.key.get(query)).body;
  expect({ Count, results: Results.length }).toEqual({ Count: 3, results: 3 });
  expect(Results.map(({ action, actor }: Json) => [action, actor.name])).toEqual([
    ['user.blocked', 'first key'],
    ['user.updated', user.username],
    ['user.created', 'first key'],
  ]);
  expect((await walk(`${query}&limit=1`)).map(({ id }) => id)).toEqual(Results.map(({ id }: Json) => id));
});
