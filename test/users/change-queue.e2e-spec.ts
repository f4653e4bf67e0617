import { beforeAll, expect, jest, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { GroupRepository } from '../../src/groups/group.repository.js';
import { IdempotencyRepository } from '../../src/idempotency/idempotency.repository.js';
import type { Database } from '../../src/platform/database/engine/database.js';
import { DatabaseError } from '../../src/platform/database/engine/database-error.js';
import { UserChangeQueue } from '../../src/users/writer/user-change-queue.service.js';
import { UserWriter } from '../../src/users/writer/user-writer.service.js';
import { type TestApp, setUpApp } from '../support/app/app.js';
import { readAuditRows } from '../support/app/audit-rows.js';
import type { Answer, Client } from '../support/app/client.js';
import { SCIM, ScimClient, USER } from '../support/app/scim.js';
import { UNKNOWN, aUser, create } from '../support/data/factories.js';
import { failNextCommit } from '../support/app/lost-commit.js';
import { databaseOf } from '../support/app/people.js';

const app = setUpApp({ FUSE_MIN: '0' });
let database: Database;
let second: TestApp;
beforeAll(async () => {
  second = await app.startOther();
  database = databaseOf(app);
});

interface Person {
  username: string;
  phone: string;
  manager_uuid: string | null;
  status: string;
  version: number;
}
type World = ReadonlyMap<string, Person>;

/** A change of one user. `user` and `manager` are positions in the list of users, undefined for no manager. */
interface Change {
  kind: 'username' | 'phone' | 'manager' | 'status' | 'create' | 'delete';
  user: number;
  manager: number | undefined;
  username: string;
  /** The version in `If-Match`, relative to the version at the start. Undefined for no `If-Match`. */
  match: number | undefined;
  isIdempotent: boolean;
}

const change = fc.record<Change>({
  kind: fc.constantFrom('username', 'phone', 'manager', 'status', 'status', 'create', 'delete'),
  user: fc.nat(4),
  manager: fc.option(fc.nat(4), { nil: undefined }),
  username: fc.constantFrom('name 0', 'name 1', 'name 2', 'name 3', 'name 4', 'name 5', 'name 6'),
  match: fc.option(fc.constantFrom(0, 1), { nil: undefined }),
  isIdempotent: fc.boolean(),
});

/** All users of this test are Webmasters, so that the rule of the last active Webmaster also applies. */
const WEBMASTER = { roles: ['Webmaster'] };

async function readWorld(): Promise<World> {
  const rows = await database.query<Person & { uuid: string }>(
    "SELECT uuid, username, phone, manager_uuid, status, version FROM users WHERE username LIKE 'name %'",
  );
  return new Map(rows.map(({ uuid, ...person }) => [uuid, { ...person }]));
}

/** The expected result of one change: the response, and the world after the change. */
interface Step {
  answer: string;
  after: World;
}

const toBody = ({ kind, username, manager }: Change, uuids: string[], before: Person | undefined) => {
  const manager_uuid = manager === undefined ? null : (uuids[manager] ?? UNKNOWN);
  if (kind === 'create') return { username, manager_uuid };
  if (kind === 'username') return { username };
  if (kind === 'manager') return { manager_uuid };
  if (kind === 'phone') return { phone: username };
  return { status: before?.status === 'Active' ? 'Blocked' : 'Active' };
};

/** Applies one change to a world according to the rules of the interface. */
function applyToWorld(world: World, start: World, change: Change, uuids: string[], created: string): Step {
  const uuid = change.kind === 'create' ? created : (uuids[change.user] ?? UNKNOWN);
  const before = world.get(uuid);
  const refuse = (answer: string): Step => ({ answer, after: world });
  if (change.kind !== 'create' && !before) return refuse('404');
  const body: Partial<Person> = toBody(change, uuids, start.get(uuid));
  const others = [...world].filter(([other]) => other !== uuid);
  const hasActive = others.some(([, { status }]) => status === 'Active');
  const losesLast = before?.status === 'Active' && !hasActive;
  const version = start.get(uuid)?.version ?? 1;
  const isStale = change.match !== undefined && version + change.match !== before?.version;
  if (change.kind === 'delete') {
    if (losesLast) return refuse('409');
    const after = others.map(([id, person]) => [
      id,
      person.manager_uuid === uuid ? { ...person, manager_uuid: null, version: person.version + 1 } : person,
    ]);
    return { answer: '204', after: new Map(after as [string, Person][]) };
  }
  for (let chain = body.manager_uuid ?? null; chain !== null; chain = world.get(chain)?.manager_uuid ?? null)
    if (chain === uuid || !world.has(chain)) return refuse('422');
  if (body.username !== undefined && others.some(([, { username }]) => username === body.username))
    return refuse('409');
  if (body.status === 'Blocked' && losesLast) return refuse('409');
  if (before && isStale) return refuse('412');
  const old = before ?? { username: '', phone: '', manager_uuid: null, status: 'Active', version: 0 };
  const next = { ...old, ...body };
  if (JSON.stringify(next) !== JSON.stringify(old)) next.version++;
  const answer = change.kind === 'create' ? '201' : `200 ${JSON.stringify(next)}`;
  return { answer, after: new Map([...world, [uuid, next]]) };
}

async function send(change: Change, start: World, uuids: string[], client: Client): Promise<Answer> {
  const uuid = uuids[change.user] ?? UNKNOWN;
  const person = start.get(uuid);
  const headers = {
    ...(change.isIdempotent && { 'idempotency-key': randomUUID() }),
    ...(change.match !== undefined && { 'if-match': `"${(person?.version ?? 1) + change.match}.0.full"` }),
  };
  if (change.kind === 'delete') return client.fetch('DELETE', `${SCIM}/Users/${uuid}`);
  const body = toBody(change, uuids, person);
  if (change.kind === 'create') return client.post('/users', { ...aUser(), ...WEBMASTER, ...body }, headers);
  return client.put(`/users/${uuid}`, body, headers);
}

/** Describes a response in the format of `applyToWorld`. */
function describeAnswer({ status, body, headers }: Answer): string {
  if (status !== 200) return String(status);
  const { username, phone, manager_uuid, status: state } = body;
  const version = Number(/\d+/.exec(headers['etag'] ?? '')?.[0]);
  return `200 ${JSON.stringify({ username, phone, manager_uuid, status: state, version })}`;
}

/** Returns true if applying the changes one by one in some order gives the same answers and the same last world. */
function hasOrder(rest: readonly (readonly [Change, Answer])[], world: World, facts: Facts): boolean {
  if (rest.length === 0) return isSameWorld(world, facts.last);
  return rest.some(([change, answer]) => {
    const created = String(answer.body?.uuid ?? randomUUID());
    const step = applyToWorld(world, facts.start, change, facts.uuids, created);
    if (step.answer !== describeAnswer(answer)) return false;
    return hasOrder(
      rest.filter(([other]) => other !== change),
      step.after,
      facts,
    );
  });
}
interface Facts {
  start: World;
  last: World;
  uuids: string[];
}
const isSameWorld = (one: World, other: World): boolean =>
  JSON.stringify([...one].sort(byUuid)) === JSON.stringify([...other].sort(byUuid));
const byUuid = ([one]: [string, Person], [other]: [string, Person]): number => (one < other ? -1 : 1);

test('concurrent changes have the same result as applying them one by one in some order', async () => {
  for (const username of ['name 0', 'name 1', 'name 2']) await create(app.key, { ...WEBMASTER, username });
  const admin = (await app.key.get('/users/search?username=admin')).body.Results[0].uuid as string;
  await app.key.put(`/users/${admin}`, { status: 'Blocked' });
  const begin = jest.spyOn(database, 'begin');
  let count = 0;
  const changes = fc.array(change, { minLength: 2, maxLength: 8 });
  const clients = [app.key, app.key, app.key, second.key];
  const verify = async (list: Change[]): Promise<void> => {
    count += list.length;
    const start = await readWorld();
    const uuids = [...start.keys()];
    const client = (n: number): Client => clients[n % clients.length] ?? app.key;
    const answers = await Promise.all(list.map((each, n) => send(each, start, uuids, client(n))));
    const results = list.map((each, index) => [each, answers[index] as Answer] as const);
    const last = await readWorld();
    const texts = results.map(([each, answer]) => [each, describeAnswer(answer)]);
    if (!hasOrder(results, start, { start, last, uuids }))
      throw new Error(`no order explains ${JSON.stringify({ start: [...start], texts, last: [...last] })}`);
  };
  await fc.assert(fc.asyncProperty(changes, verify), { numRuns: 60, endOnFailure: true });
  const transactions = begin.mock.calls.length;
  begin.mockRestore();
  expect(transactions).toBeLessThan(count);
});

const createMany = (count: number) => Promise.all(Array.from({ length: count }, () => create(app.key)));
const changeAll = (users: { uuid: string }[], phone: string, headers?: Record<string, string>) =>
  Promise.all(users.map(({ uuid }) => app.key.put(`/users/${uuid}`, { phone }, headers)));

test('a change that the database refuses does not affect other changes of its set', async () => {
  const users = await createMany(8);
  const writer = app.app.get(UserWriter);
  const sizes: number[] = [];
  const applyIndependent = writer.applyIndependent.bind(writer);
  const together = jest.spyOn(writer, 'applyIndependent').mockImplementation(async (tx, changes) => {
    sizes.push(changes.length);
    const outcomes = await applyIndependent(tx, changes);
    if (changes.some(({ change: { uuid } }) => uuid === users[0].uuid)) throw new Error('refused');
    return outcomes;
  });
  const apply = writer.apply.bind(writer);
  const alone = jest
    .spyOn(writer, 'apply')
    .mockImplementation((tx, changes, caller) =>
      changes[0]?.uuid === users[0].uuid ? Promise.reject(new Error('refused')) : apply(tx, changes, caller),
    );
  const answers = await changeAll(users, '1');
  together.mockRestore();
  alone.mockRestore();
  expect(Math.max(...sizes)).toBeGreaterThan(1);
  expect(answers.map(({ status }) => status)).toEqual([500, ...Array(7).fill(200)]);
  for (const { uuid } of users.slice(1)) expect(await readAuditRows(app, uuid)).toHaveLength(2);
});

test('a set contains few large changes, even after sets of many small changes', async () => {
  const users = await createMany(40);
  for (let round = 0; round < 8; round++) await changeAll(users, String(round));
  const sizes: number[] = [];
  const writer = app.app.get(UserWriter);
  const applyIndependent = writer.applyIndependent.bind(writer);
  const together = jest.spyOn(writer, 'applyIndependent').mockImplementation((tx, changes) => {
    sizes.push(changes.length);
    return applyIndependent(tx, changes);
  });
  const methods = Array.from({ length: 8 }, (_, n) => `method-${n}`);
  const toBody = (user: number) => ({
    authname: Object.fromEntries(
      methods.map((method) => [
        method,
        Array.from({ length: 20 }, (_, n) => `${user}-${n}-`.padEnd(200, 'x')),
      ]),
    ),
  });
  const answers = await Promise.all(
    users.map(({ uuid }, index) => app.key.put(`/users/${uuid}`, toBody(index))),
  );
  together.mockRestore();
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(Math.max(...sizes)).toBeLessThanOrEqual(3);
});

test('if the response to the commit is lost, all changes of the set return outcome_unknown', async () => {
  const users = await createMany(4);
  failNextCommit(database, 'rollback', new DatabaseError('unknown', new Error('lost')));
  const codes = (await changeAll(users, '2')).map(({ body }) => String(body.code ?? 'applied'));
  expect(codes.filter((code) => code !== 'applied')).toEqual(
    Array(codes.lastIndexOf('outcome_unknown') + 1).fill('outcome_unknown'),
  );
  expect(codes).toContain('outcome_unknown');
});

test('after a conflict at the commit, each change of the set is applied once', async () => {
  const users = await createMany(8);
  failNextCommit(database, 'rollback', new DatabaseError('race', new Error('certification failed')));
  const answers = await Promise.all([
    changeAll(users.slice(0, 4), '3'),
    ...users.slice(4).map((user) => changeAll([user], '3', { 'idempotency-key': randomUUID() })),
  ]);
  expect(answers.flat().map(({ status }) => status)).toEqual(Array(8).fill(200));
  for (const { uuid } of users) expect(await readAuditRows(app, uuid)).toHaveLength(2);
});

test('a request that cannot store its response does not affect other requests of the set', async () => {
  const users = await createMany(8);
  const failing = jest.spyOn(app.app.get(IdempotencyRepository), 'insert');
  failing.mockRejectedValueOnce(new DatabaseError('race', new Error('deadlock')));
  const keys = users.map(() => randomUUID());
  const sendAll = () =>
    Promise.all(users.map((user, n) => changeAll([user], '4', { 'idempotency-key': keys[n] ?? '' })));
  const answers = (await sendAll()).flat();
  failing.mockRestore();
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
  const repeated = (await sendAll()).flat();
  expect(repeated.map(({ text }) => text)).toEqual(answers.map(({ text }) => text));
  for (const { uuid } of users) expect(await readAuditRows(app, uuid)).toHaveLength(2);
});

test('a request whose statement the database refuses does not affect other requests of the set', async () => {
  const users = await createMany(8);
  const repository = app.app.get(IdempotencyRepository);
  const failing = jest.spyOn(repository, 'insert');
  failing.mockImplementationOnce(async (sql) => {
    await sql.execute('INSERT INTO no_such_table VALUES (1)');
  });
  const answers = (
    await Promise.all(users.map((user) => changeAll([user], '6', { 'idempotency-key': randomUUID() })))
  ).flat();
  failing.mockRestore();
  expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array(7).fill(200), 500]);
});

test('a request that cannot store its response does not affect requests that still use the transaction', async () => {
  const users = await createMany(12);
  for (let n = 0; n < 4; n++) await changeAll(users, `6${n}`); // each set can be twice as large as the previous set
  const failing = jest.spyOn(app.app.get(IdempotencyRepository), 'insert');
  for (let n = 0; n < 6; n++) failing.mockRejectedValueOnce(new DatabaseError('race', new Error('deadlock')));
  const groups = app.app.get(GroupRepository);
  const list = groups.listGroupsByUser.bind(groups);
  const reading = jest.spyOn(groups, 'listGroupsByUser').mockImplementation(async (uuids, sql) => {
    await delay(30);
    return list(uuids, sql);
  });
  const scim = new ScimClient(() => app.key);
  const answers = await Promise.all(
    users.map(({ uuid, username: userName }, n) => {
      const headers = { 'idempotency-key': randomUUID() };
      const body = { schemas: [USER], userName };
      return n % 2
        ? scim.put(`/Users/${uuid}?attributes=groups`, body, headers)
        : app.key.put(`/users/${uuid}`, { phone: '7' }, headers);
    }),
  );
  failing.mockRestore();
  reading.mockRestore();
  expect(answers.map(({ status, text }) => (status === 200 ? 200 : text))).toEqual(Array(12).fill(200));
});

test.each([2, 3, 8, 16])(
  'with sets of %d changes, a transaction that cannot begin delays no other requests',
  async (size) => {
    const [slow, ...others] = await createMany(9);
    const sizer = app.app.get(UserChangeQueue)['sizer'];
    sizer.batches = size;
    const durations = jest.spyOn(sizer, 'recordDuration').mockReturnValue();
    const begin = database.begin.bind(database);
    const started = Promise.withResolvers<undefined>();
    const end = Promise.withResolvers<undefined>();
    jest.spyOn(database, 'begin').mockImplementationOnce(async () => {
      started.resolve(undefined);
      await end.promise;
      return begin();
    });
    const first = changeAll([slow], '8');
    await started.promise;
    const rest = changeAll(others, '8');
    // The delayed change would outlast any number of other requests.
    const many = async () => {
      for (let n = 0; n < 200; n++) await second.key.get('/users/me');
      return [];
    };
    const answers = await Promise.race([rest, many()]);
    end.resolve(undefined);
    durations.mockRestore();
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect((await first)[0]?.status).toBe(200);
  },
);
