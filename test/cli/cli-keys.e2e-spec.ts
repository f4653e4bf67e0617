import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import { databaseOf, inSeconds, problemOf, sha256 } from '../support/app/people.js';
import { runCommand } from '../support/process/command.js';

/** Keys managed from a shell while a service runs on the same database. */
let app: TestApp;
jest.setTimeout(90_000);
beforeAll(async () => void (app = await TestApp.start()));
afterAll(() => app.end());

const KEY = /^rollcall_[0-9a-f]{12}_[\w-]{43}_[0-9a-f]{8}$/;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/;
const UNKNOWN = '01a1fc45-0000-7000-8000-000000000000';

const run = (args: readonly string[]) => runCommand(app.database, ['keys', ...args]);
const search = (key: string) => app.nobody.get('/users/search?limit=1', { 'x-api-key': key });

async function make(name: string, ...options: string[]): Promise<{ key: string; id: string }> {
  const { code, out, err } = await run(['create', name, ...options]);
  const id = UUID.exec(err)?.[0] ?? '';
  expect([code, out.trimEnd(), id]).toEqual([0, expect.stringMatching(KEY), expect.stringMatching(UUID)]);
  return { key: out.trimEnd(), id };
}

interface Listed {
  id: string;
  name: string;
  state: string;
  created: string;
  expires: string | null;
  revoked: string | null;
  last_used: string | null;
}

async function listed(id: string): Promise<Listed | undefined> {
  const { code, out } = await run(['list', '--json']);
  expect(code).toBe(0);
  return (JSON.parse(out) as Listed[]).find((key) => key.id === id);
}

const audit = (id: string) =>
  databaseOf(app).query(
    "SELECT action, actor_kind, target_kind, request_id FROM audit_events WHERE target_id = ? AND action LIKE 'api_key.%' AND actor_kind = 'system' ORDER BY id",
    [id],
  );
const audited = (action: string) => ({
  action,
  actor_kind: 'system',
  target_kind: 'api_key',
  request_id: 'cli',
});
const stored = async () => {
  const [row] = await databaseOf(app).query<{ n: number }>('SELECT COUNT(*) AS n FROM api_keys');
  return row?.n;
};

test('a new key works in the running service, and after its revocation the very next request is refused', async () => {
  const { key, id } = await make('connector');
  expect((await search(key)).status).toBe(200);
  expect(await audit(id)).toEqual([audited('api_key.created')]);

  expect(await run(['revoke', id])).toMatchObject({ code: 0, out: `Key ${id} is revoked.\n`, err: '' });
  expect(problemOf(await search(key))).toEqual([401, 'unauthenticated']);
  expect(await audit(id)).toEqual([audited('api_key.created'), audited('api_key.revoked')]);
  expect(await listed(id)).toMatchObject({ state: 'revoked', revoked: expect.stringMatching(/Z$/) });
});

test('a second revocation says so and changes nothing; the id may be in capitals', async () => {
  const { id } = await make('twice');
  await run(['revoke', id.toUpperCase()]);
  const before = await listed(id);
  expect(before?.state).toBe('revoked');
  expect(await run(['revoke', id])).toMatchObject({
    code: 0,
    out: `Key ${id} was revoked before.\n`,
    err: '',
  });
  expect(await listed(id)).toEqual(before);
  expect(await audit(id)).toHaveLength(2);
});

test.each([UNKNOWN, '%'])('there is no key %j to revoke', async (id) => {
  const { code, out, err } = await run(['revoke', id]);
  expect([code, out]).toEqual([2, '']);
  expect(err).toMatch(/^rollcall cannot do this\. There is no key .*"rollcall keys list" shows all\.\n$/);
  expect(await audit(id)).toEqual([]);
});

test('the key is printed once and stored as its hash only', async () => {
  const { key, id } = await make('secret');
  const rows = await databaseOf(app).query<{ key_hash: string }>('SELECT * FROM api_keys WHERE id = ?', [id]);
  expect(rows).toMatchObject([{ key_hash: sha256(key) }]);
  expect(JSON.stringify(rows)).not.toContain(key);
  const lists = [await run(['list']), await run(['list', '--json'])];
  for (const { out, err } of lists) {
    expect(out + err).not.toContain(key);
    expect(out + err).not.toContain(sha256(key));
  }
});

test('the list shows every key and its state, newest first, as a table and as JSON', async () => {
  const used = await make('used', '--expires', '90d');
  await search(used.key);
  const late = await make('late');
  const set = 'UPDATE api_keys SET expires = ? WHERE id = ?';
  await databaseOf(app).execute(set, [inSeconds(-1), late.id]);
  expect(problemOf(await search(late.key))).toEqual([401, 'unauthenticated']);

  expect(await listed(used.id)).toEqual({
    id: used.id,
    name: 'used',
    state: 'active',
    created: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/),
    expires: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/),
    revoked: null,
    last_used: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/),
    last_address: '127.0.0.1',
    scopes: null,
    networks: null,
    unknown_fields: 'refuse',
    profile: 'standard',
    maker: { kind: 'system', id: null },
  });
  expect(await listed(late.id)).toMatchObject({ state: 'expired', last_used: null });

  const { code, out, err } = await run(['list']);
  expect([code, err]).toEqual([0, '']);
  const [head, ...lines] = out.trimEnd().split('\n');
  expect(head).toMatch(/^ID +STATE +CREATED \(UTC\) +EXPIRES +LAST USED +FROM +SCOPES +NETWORKS +NAME$/);
  expect(lines[0]).toMatch(new RegExp(`^${late.id} +expired .* never +- +all +any +late$`));
  expect(lines[1]).toMatch(new RegExp(`^${used.id} +active .*:\\d\\d +127\\.0\\.0\\.1 +all +any +used$`));
  expect(lines).toHaveLength(Number(await stored()));
});

test('a key has the requested name and expiry', async () => {
  const { id } = await make('  HR \u00a0 system ', '--expires', '2096-02-29');
  expect(await listed(id)).toMatchObject({ name: 'HR system', expires: '2096-02-29T00:00:00.000Z' });
});

test('a key may be narrow', async () => {
  const scopes = ['--scope', 'users:read', '--scope', 'imports:write:hr'];
  const networks = ['--network', '127.0.0.0/8', '--network', '::1'];
  const { key, id } = await make(
    'narrow',
    ...scopes,
    ...networks,
    '--unknown-fields',
    'ignore',
    '--profile',
    'okta',
  );
  expect(await listed(id)).toMatchObject({
    scopes: ['users:read', 'imports:write:hr'],
    networks: ['127.0.0.0/8', '::1/128'],
    unknown_fields: 'ignore',
    profile: 'okta',
  });
  expect((await search(key)).status).toBe(200);
  expect(problemOf(await app.nobody.get('/audit', { 'x-api-key': key }))).toEqual([
    403,
    'insufficient_scope',
  ]);
  const [, line] = (await run(['list'])).out.split('\n');
  expect(line).toMatch(/ users:read,imports:write:hr +127\.0\.0\.0\/8,::1\/128 +narrow$/);
});

test.each([
  [['x', '--scope=users:reed'], 'scopes must hold some of users:read'],
  [['x', '--network=10.1.2.3/8'], 'networks must hold networks such as'],
  [['x', '--unknown-fields=drop'], 'Allowed choices are refuse, ignore'],
  [['a\nb'], 'control characters'],
  [['x', '--expires=0d'], 'must be a future date'],
])('create %j is refused and creates no key', async (args, message) => {
  const before = await stored();
  const { code, out, err } = await run(['create', ...args]);
  expect([code, out]).toEqual([2, '']);
  expect(err).toContain(message);
  expect(await stored()).toBe(before);
});

test.each([
  [[], 'Usage: rollcall keys'],
  [['bogus'], "unknown command 'bogus'"],
  [['create'], "missing required argument 'name'"],
  [['create', 'x', '--bogus'], "unknown option '--bogus'"],
  [['list', 'extra'], 'too many arguments'],
  [['revoke'], "missing required argument 'id'"],
])('keys %j is a wrong usage: exit code 2, reported on standard error', async (args, message) => {
  const { code, out, err } = await run(args);
  expect([code, out]).toEqual([2, '']);
  expect(err).toContain(message);
});

test.each([[['--help']], [['create', '--help']]])('keys %j lists the exit codes', async (args) => {
  const { code, out, err } = await run(args);
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(/Exit codes: 0 done, 2 nothing done/);
});

test('the fuse of a key is reset; of an unknown key it is not', async () => {
  const { id } = await make('with a fuse');
  const done = await run(['fuse', id.toUpperCase()]);
  expect([done.code, done.err]).toEqual([0, '']);
  expect(done.out).toMatch(/^The fuse of key \S+ is open until \d{4}-\d\d-\d\d \d\d:\d\d \(UTC\)\.\n$/);
  expect(await audit(id)).toEqual([audited('api_key.created'), audited('api_key.fuse_reset')]);
  const unknown = await run(['fuse', UNKNOWN]);
  expect([unknown.code, unknown.out]).toEqual([2, '']);
  expect(unknown.err).toContain(`There is no key ${UNKNOWN}`);
});
