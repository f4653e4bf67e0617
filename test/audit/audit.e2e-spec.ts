import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PurgeService } from '../../src/setup/purge.service.js';
import { TestApp } from '../support/app/app.js';
import type { Answer, Json } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { csv, imported } from '../support/app/imports.js';
import { PASSWORD, databaseOf, inSeconds } from '../support/app/people.js';

/** The audit as operators read it. */
let app: TestApp;
beforeAll(async () => void (app = await TestApp.start({ AUDIT_RETENTION_DAYS: '30' })));
afterAll(() => app.end());

const audit = async (query: string): Promise<Json[]> => (await app.key.get(`/audit?${query}`)).body.Results;
const actions = async (query: string) => (await audit(query)).map(({ action }) => action);
const next = ({ headers }: Answer): string | undefined =>
  /<\/api\/0\.3([^>]+)>; rel="next"/.exec(headers['link'] ?? '')?.[1];
const walk = async (path: string): Promise<Json[]> => {
  const found: Json[] = [];
  for (let at: string | undefined = path; at !== undefined;) {
    const page: Answer = await app.key.get(at);
    found.push(...page.body.Results);
    at = next(page);
  }
  return found;
};

test('a change is recorded with actor, target, differences, request and address', async () => {
  const user = await create(app.key);
  const changed = await app.key.put(`/users/${user.uuid as string}`, { phone: '7', password: PASSWORD });
  const [event, created] = await audit(`target=${user.uuid as string}`);
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

describe('filters', () => {
  let user: Json;
  let self: Json;
  beforeAll(async () => {
    user = await create(app.key, { password: PASSWORD });
    self = await app.login(user.username, PASSWORD);
    await self.put(`/users/${user.uuid as string}`, { about_me: 'x' });
    await app.key.put(`/users/${user.uuid as string}`, { status: 'Blocked' });
  });
  const of = (more: string) => `target=${user.uuid as string}&${more}`;
  test.each([
    ['', ['user.blocked', 'user.updated', 'user.created']],
    ['action=user.blocked', ['user.blocked']],
    ['action=user.blocked&action=user.created', ['user.blocked', 'user.created']],
    ['field=about_me', ['user.updated']],
    ['field=status', ['user.blocked', 'user.created']],
    ['field=nothing', []],
    ['actor_kind=user', ['user.updated']],
    ['actor_kind=user&field=status', []],
    ['since=2999-01-01', []],
    ['until=2999-01-01', ['user.blocked', 'user.updated', 'user.created']],
    ['until=2020-01-01', []],
  ])('%s', async (query, expected) => {
    expect(await actions(of(query))).toEqual(expected);
    expect((await app.key.get(`/audit?${of(query)}`)).body.Count).toBe(expected.length);
  });
  test('by actor, in any case', async () => {
    const own = await actions(`actor=${user.uuid.toUpperCase() as string}`);
    expect(own).toEqual(['user.updated', 'session.created']);
  });
  test('since includes its moment, until does not', async () => {
    const [blocked, updated] = await audit(of(''));
    expect(await actions(of(`since=${blocked.time as string}`))).toEqual(['user.blocked']);
    expect(await actions(of(`until=${updated.time as string}`))).toEqual(['user.created']);
  });
  test.each([
    'actor=me',
    'action=user.erased',
    'field=a%20b',
    'since=yesterday',
    'who=x',
    'limit=0',
    'after=2',
  ])('%s is refused', async (query) => {
    const answer = await app.key.get(`/audit?${query}`);
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_parameter']);
    expect(answer.body.detail).toContain(query.split('=')[0]);
  });
});

describe('walks', () => {
  test('pages follow each other without gaps or duplicates', async () => {
    for (let i = 0; i < 7; i++) await create(app.key);
    const all = await audit('limit=100');
    expect(all.length).toBeGreaterThan(7);
    const walked = await walk('/audit?limit=3');
    expect(walked.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
    const times = all.map(({ time }) => time as string);
    expect(times).toEqual([...times].sort().reverse());
  });
  test('one event among ten thousand others of its target is on the first page', async () => {
    const user = await create(app.key, { about_me: 'before the flood' });
    const columns = 'id, time, actor_kind, actor_id, action, target_kind, target_id, changes, request_id, ip';
    await databaseOf(app).insert(
      { head: `INSERT INTO audit_events (${columns}) VALUES`, columns: 10, tail: '' },
      Array.from({ length: 10_050 }, (_, i) => [
        `ffffffff-0000-7000-8000-${i.toString(16).padStart(12, '0')}`,
        inSeconds(0),
        'system',
        null,
        'user.updated',
        'user',
        user.uuid,
        '[{"field":"phone","old":"","new":"1"}]',
        'r',
        '',
      ]),
    );
    const query = `/audit?target=${user.uuid as string}&field=about_me`;
    const first = await app.key.get(query);
    expect([first.body.Results.length, next(first)]).toEqual([1, undefined]);
    expect((await walk(query)).map(({ action }) => action)).toEqual(['user.created']);
    const { Count, CountIsExact } = (await app.key.get(`/audit?target=${user.uuid as string}`)).body;
    expect([Count, CountIsExact]).toEqual([1000, false]);
    await databaseOf(app).execute("DELETE FROM audit_events WHERE id LIKE 'ffffffff%'");
  });
});

test('the file has the same events, safe for spreadsheets', async () => {
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

test('events older than the retention are deleted, batch by batch', async () => {
  const user = await create(app.key);
  const database = databaseOf(app);
  const day = 24 * 3600 * 1000;
  const old = (days: number, i: number) => {
    const hex = (Date.now() - days * day).toString(16).padStart(12, '0');
    return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${i.toString(16).padStart(12, '0')}`;
  };
  const rows = [31, 29].flatMap((days) =>
    Array.from({ length: 600 }, (_, i) => [
      old(days, i),
      inSeconds(-days * 24 * 3600),
      'system',
      null,
      'user.updated',
      'user',
      user.uuid,
      '[]',
      'r',
      '',
    ]),
  );
  await database.insert({ head: 'INSERT INTO audit_events VALUES', columns: 10, tail: '' }, rows);
  await app.app.get(PurgeService).run();
  expect((await app.key.get(`/audit?target=${user.uuid as string}`)).body.Count).toBe(601);
});

test('the history of a user names who did it and says what, for people', async () => {
  const user = await create(app.key, { password: PASSWORD, phone: '1' });
  const path = `/users/${user.uuid as string}`;
  await (await app.login(user.username, PASSWORD)).put(path, { phone: '2', about_me: 'x' });
  await app.key.put(path, { status: 'Blocked', about_me: '' });
  const { Count, Results } = (await app.key.get(`${path}/history`)).body;
  expect([Count, Results.length]).toEqual([3, 3]);
  expect(Results.slice(0, 2).map(({ summary }: Json) => summary)).toEqual([
    'API key "first key" blocked the user: status from "Active" to "Blocked"; about_me cleared, was "x"',
    `${user.username as string} changed the user: phone from "1" to "2"; about_me set to "x"`,
  ]);
  expect(Results[2].summary).toMatch(/^API key "first key" created the user: .*password changed/);
  expect(Results[1].actor).toEqual({ kind: 'user', id: user.uuid, name: user.username });
  expect((await walk(`${path}/history?limit=1`)).map(({ id }) => id)).toEqual(
    Results.map(({ id }: Json) => id),
  );
});

test('a change by an import names the import', async () => {
  const run = await imported(app.key, csv('ExternalId,Username,Email', 'h1,h1,h1@example.org'));
  const found = (await app.key.get('/users/search?external_id=h1')).body.Results[0];
  const { Results } = (await app.key.get(`/users/${found.uuid as string}/history`)).body;
  expect(Results[0].actor).toMatchObject({ kind: 'import', id: run.id });
  expect(Results[0].summary).toMatch(
    /^import upload\.csv \(started by API key "first key"\) created the user: username set/,
  );
});
