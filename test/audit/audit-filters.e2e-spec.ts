import { beforeAll, describe, expect, test } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { AuditService } from '../../src/audit/audit.service.js';
import { setUpApp } from '../support/app/app.js';
import { readAuditPages } from '../support/app/audit-rows.js';
import type { Answer, Json } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { csv, runImport } from '../support/app/imports.js';
import { PASSWORD, aPerson, databaseOf, problemOf } from '../support/app/people.js';
import { eventAt, insertEvents } from '../support/app/sealed-audit.js';
import { nextOf } from '../support/app/search.js';

/** Audit filters return full pages, and an exact count or a lower bound, in any combination. */
const app = setUpApp();

const readPages = (path: string): Promise<Json[][]> => readAuditPages(app.key, path);

const ACTIONS = ['user.created', 'user.updated', 'user.blocked'];
const YEAR = Date.UTC(2025, 0, 1);

interface Row {
  id: string;
  actor: string;
  action: string;
  target: string;
  field: string;
}

/** Rows of four actors, three actions, fifty targets and seven fields, so that every combination occurs. */
const actors = Array.from({ length: 4 }, () => uuidv7());
const targets = Array.from({ length: 50 }, () => uuidv7());
const FIELDS = ['phone', 'mobile', 'surname', 'email', 'about_me', 'roles', 'status'];
const rows: Row[] = Array.from({ length: 3000 }, (_, i) => ({
  id: uuidv7({ msecs: YEAR + i * 1000 }),
  actor: actors[(i * 7) % 4]!,
  action: ACTIONS[(i * 5) % 3]!,
  target: targets[(i * 3) % 50]!,
  // One field is rare, and far from the newest row.
  field: i === 40 ? 'known_as' : FIELDS[(i * 11) % 7]!,
}));
beforeAll(async () => {
  const events = rows.map(({ id, actor, action, target, field }, i) => {
    const changes = JSON.stringify([{ field, old: '', new: 'x' }]);
    const fields = { id, actor_kind: 'key', actor_id: actor, action, target_id: target, changes };
    return eventAt(YEAR + i * 1000, fields);
  });
  await insertEvents(databaseOf(app), events);
});

const toTime = (i: number) => new Date(YEAR + i * 1000).toISOString();
const FILTERS: [string, (row: Row, i: number) => boolean][] = [
  [`actor=${actors[1]!}`, ({ actor }) => actor === actors[1]],
  [`target=${targets[6]!}`, ({ target }) => target === targets[6]],
  ['action=user.blocked', ({ action }) => action === 'user.blocked'],
  ['action=user.blocked&action=user.created', ({ action }) => action !== 'user.updated'],
  [
    `actor=${actors[1]!}&action=user.blocked`,
    ({ actor, action }) => actor === actors[1] && action === 'user.blocked',
  ],
  [
    `actor=${actors[1]!}&target=${targets[9]!}`,
    ({ actor, target }) => actor === actors[1] && target === targets[9],
  ],
  [
    `action=user.created&target=${targets[9]!}&actor=${actors[1]!}`,
    ({ actor, target, action }) => actor === actors[1] && target === targets[9] && action === 'user.created',
  ],
  ['field=known_as', ({ field }) => field === 'known_as'],
  ['field=phone', ({ field }) => field === 'phone'],
  [`field=known_as&actor_kind=key&action=${rows[40]!.action}`, ({ field }) => field === 'known_as'],
  ['actor_kind=import', () => false],
  [
    `actor_kind=key&field=roles&actor=${actors[0]!}`,
    ({ actor, field }) => actor === actors[0] && field === 'roles',
  ],
  [
    `actor=${actors[2]!}&since=${toTime(1000)}&until=${toTime(1500)}`,
    ({ actor }, i) => actor === actors[2] && i >= 1000 && i < 1500,
  ],
  [
    `field=email&since=${toTime(10)}&until=${toTime(2990)}`,
    ({ field }, i) => field === 'email' && i >= 10 && i < 2990,
  ],
];

test.each(FILTERS)('the audit filter %s returns full pages, newest first', async (filter, matches) => {
  const inYear = `${filter}${filter.includes('until') ? '' : `&until=${toTime(3000)}`}`;
  const expected = rows
    .filter(matches)
    .map(({ id }) => id)
    .reverse();
  const found = await readPages(`/audit?limit=100&${inYear}`);
  expect(found.flat().map(({ id }) => id)).toEqual(expected);
  for (const page of found.slice(0, -1)) expect(page).toHaveLength(100);
  if (expected.length > 0) expect(found.at(-1)!.length).toBeGreaterThan(0); // no empty page at the end
  const { Count, CountIsExact } = (await app.key.get(`/audit?limit=1&${inYear}`)).body;
  if (CountIsExact) expect(Count).toBe(expected.length);
  else expect(Count).toBeLessThanOrEqual(expected.length);
  expect(CountIsExact || expected.length >= 1000).toBe(true);
});

test('the Count of an audit search is at most 1000', async () => {
  const { Count, CountIsExact } = (await app.key.get('/audit?actor_kind=key')).body;
  expect([Count, CountIsExact]).toEqual([1000, false]);
  const all = (await app.key.get(`/audit?until=${toTime(3000)}`)).body;
  expect(all).toMatchObject({ Count: 1000, CountIsExact: false });
  const few = (await app.key.get(`/audit?until=${toTime(7)}`)).body;
  expect(few).toMatchObject({ Count: 7, CountIsExact: true });
});

test('audit search pages contain each event once while events are added', async () => {
  const path = `/audit?actor=${actors[3]!}&limit=50`;
  const expected = rows.filter(({ actor }) => actor === actors[3]).map(({ id }) => id);
  const found: string[] = [];
  for (let at: string | undefined = path; at !== undefined;) {
    const page: Answer = await app.key.get(at);
    found.push(...page.body.Results.map(({ id }: Json) => id));
    const fields = { actor_kind: 'key', actor_id: actors[3]!, target_id: targets[0]! };
    await insertEvents(databaseOf(app), [eventAt(Date.now(), fields)]);
    at = nextOf(page);
  }
  expect(found).toEqual(expected.reverse());
});

test('an audit search that takes too long returns 422', async () => {
  const service = app.app.get(AuditService);
  const { maxMillis } = service;
  service.maxMillis = 0;
  try {
    const answer = await app.key.get('/audit?field=known_as&actor_kind=key');
    expect(problemOf(answer)).toEqual([422, 'search_too_broad']);
    expect(answer.body.detail).toContain('actor_kind and field');
    // The CSV export has no such limit.
    expect((await app.key.get('/audit.csv?field=known_as')).text.split('\r\n')).toHaveLength(3);
  } finally {
    service.maxMillis = maxMillis;
  }
});

describe('the audit of an import', () => {
  let uploader: Json;
  let approver: Json;
  let run: Json;
  beforeAll(async () => {
    const people = await Promise.all([
      aPerson(app, { roles: ['Webmaster'], username: 'uploader' }),
      aPerson(app, { roles: ['Webmaster'], username: 'approver' }),
    ]);
    [uploader, approver] = [people[0].user, people[1].user];
    const file = csv('ExternalId,Username,Email', ...[1, 2, 3].map((i) => `p${i},p${i},p${i}@example.org`));
    run = await runImport(people[0].client, file, 'dry_run=true');
    expect(run.state).toBe('planned');
    await people[1].client.post(`/imports/${run.id}/apply`);
    await people[1].client.get(`/imports/${run.id}/events`);
    expect((await app.key.get(`/imports/${run.id}`)).body.state).toBe('completed');
    // A later import by the uploader alone.
    const second = csv('ExternalId,Username,Email', 'p9,p9,p9@example.org');
    expect((await runImport(people[0].client, second)).state).toBe('completed');
  });
  const readCreated = async (who: Json) =>
    (await readPages(`/audit?actor=${who.uuid}&limit=2&action=user.created`))
      .flat()
      .map(({ changes }) => changes.find(({ field }: Json) => field === 'username').new);

  test('names the starter and approver in every event', async () => {
    const { Results } = (await app.key.get(`/audit?actor=${run.id}`)).body;
    expect(Results.length).toBeGreaterThanOrEqual(4);
    const people = {
      started_by: { kind: 'user', id: uploader.uuid, name: 'uploader' },
      approved_by: { kind: 'user', id: approver.uuid, name: 'approver' },
    };
    for (const { actor } of Results)
      expect(actor).toEqual({ kind: 'import', id: run.id, name: 'upload.csv', ...people });
    const lines = (await app.key.get(`/audit.csv?actor=${run.id}`)).text.trim().split('\r\n');
    expect(lines[0]).toMatch(/,StartedBy,ApprovedBy,Reason$/);
    expect(lines[1]).toMatch(new RegExp(`,${uploader.uuid},${approver.uuid},$`));
  });
  test('is found by filtering for starter or approver', async () => {
    expect(await readCreated(uploader)).toEqual(['p9', 'p3', 'p2', 'p1']);
    expect(await readCreated(approver)).toEqual(['p3', 'p2', 'p1']);
    const find = (who: Json, more = '') => app.key.get(`/audit?actor=${who.uuid}${more}`);
    const all = (await find(uploader)).body;
    expect([all.Count, all.CountIsExact]).toEqual([all.Results.length, true]);
    const own = (await find(uploader, '&actor_kind=user')).body.Results.map(({ action }: Json) => action);
    expect(own).toEqual(['import.created', 'import.created', 'session.created']);
    const one = (await app.key.get('/users/search?external_id=p2')).body.Results[0];
    expect((await find(approver, `&target=${one.uuid}`)).body.Count).toBe(1);
  });
  test.each([
    ['p2', { started_by: { name: 'uploader' }, approved_by: { name: 'approver' } }],
    ['p9', { started_by: { name: 'uploader' } }],
  ])('shows user %s as changed by an import with %j', async (id, people) => {
    const one = (await app.key.get(`/users/search?external_id=${id}`)).body.Results[0];
    const { Results } = (await app.key.get(`/audit?target=${one.uuid}`)).body;
    expect(Results[0].actor).toMatchObject({ kind: 'import', name: 'upload.csv', ...people });
  });
  test('names the starter of a revert', async () => {
    const self = await app.login('approver', PASSWORD);
    const revert = (await self.post(`/imports/${run.id}/revert`)).body;
    await self.get(`/imports/${revert.id}/events`);
    const [row] = (await app.key.get(`/audit?actor=${revert.id}&action=user.deleted`)).body.Results;
    expect(row.actor.started_by.id).toBe(approver.uuid);
  });
  test('appears among the events of its API key', async () => {
    const key = (await app.key.post('/api_keys', { name: 'nightly' })).body;
    const client = app.guest.with({ 'x-api-key': key.key });
    for (let i = 0; i < 6; i++) {
      const lines = [0, 1].map((n) => `n${i}${n},n${i}${n},n${i}${n}@example.org`);
      await runImport(client, csv('ExternalId,Username,Email', ...lines));
      await create(client, { username: `own-${i}` });
    }
    const found = (await readPages(`/audit?actor=${key.id}&action=user.created&limit=4`)).flat();
    const names = found.map(({ changes }) => changes.find(({ field }: Json) => field === 'username').new);
    const expected = [0, 1, 2, 3, 4, 5].flatMap((i) => [`n${i}0`, `n${i}1`, `own-${i}`]);
    expect(names).toEqual(expected.reverse());
  });
});
