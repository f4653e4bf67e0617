import { describe, expect, test } from '@jest/globals';
import { setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { databaseOf, inSeconds, problemOf } from '../support/app/people.js';
import { TARGETS, runOn, runCommand } from '../support/process/command.js';

/** `rollcall keys` on the database of a running service and through the service. */
const app = setUpApp();

const KEY = /^rollcall_[0-9a-f]{12}_[\w-]{43}_[0-9a-f]{8}\n$/;
/** More keys than a page of the API contains. */
const MANY = 101;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/;
const UNKNOWN = '01a1fc45-0000-7000-8000-000000000000';

const runKeys = (args: readonly string[]) => runCommand(app.database, ['keys', ...args]);
const search = (key: string) => app.guest.get('/users/search?limit=1', { 'x-api-key': key });

/** Returns the audit events of a key, except events about new addresses. */
const listEvents = (id: string) =>
  databaseOf(app).query(
    `SELECT action, actor_kind, request_id FROM audit_events
     WHERE target_id = ? AND target_kind = 'api_key' AND action <> 'api_key.new_address' ORDER BY id`,
    [id],
  );
const countStored = async () => {
  const [row] = await databaseOf(app).query<{ n: number }>('SELECT COUNT(*) AS n FROM api_keys');
  return row?.n;
};

describe.each(TARGETS)('rollcall keys on the %s', (target) => {
  const keys = (...args: string[]) => runOn(target, app, ['keys', ...args]);
  const buildEvent = (action: string) => ({
    action,
    actor_kind: target === 'database' ? 'system' : 'key',
    request_id: target === 'database' ? 'cli' : expect.stringMatching(/^[0-9a-f-]{36}$/),
  });

  async function createKey(name: string, ...options: string[]): Promise<{ key: string; id: string }> {
    const { code, out, err } = await keys('create', name, ...options);
    const id = UUID.exec(err)?.[0] ?? '';
    expect([code, out, id]).toEqual([0, expect.stringMatching(KEY), expect.stringMatching(UUID)]);
    return { key: out.trimEnd(), id };
  }

  async function findListed(id: string): Promise<Json> {
    const { code, out } = await keys('list', '--json');
    expect(code).toBe(0);
    return JSON.parse(out).find((key: Json) => key.id === id);
  }

  test('"create" prints a key that works until "revoke"', async () => {
    const { key, id } = await createKey('connector');
    expect((await search(key)).status).toBe(200);
    const typed = id.toUpperCase();
    const revoked = await keys('revoke', typed);
    expect(revoked).toMatchObject({ code: 0, out: `Key ${typed} is revoked.\n`, err: '' });
    expect(problemOf(await search(key))).toEqual([401, 'unauthenticated']);
    const before = await findListed(id);
    expect(before).toMatchObject({ state: 'revoked', revoked: expect.stringMatching(/Z$/) });
    const again = await keys('revoke', UNKNOWN, id);
    const fault = `There is no API key ${UNKNOWN}.\n`;
    expect(again).toMatchObject({ code: 1, out: `Key ${id} is revoked.\n`, err: fault });
    expect(await findListed(id)).toEqual(before);
    expect(await listEvents(id)).toEqual([buildEvent('api_key.created'), buildEvent('api_key.revoked')]);
  });

  test('"list" prints every key and its state', async () => {
    if (target === 'database')
      for (let n = 0; n < MANY; n++) await app.key.post('/api_keys', { name: `many-${n}` });
    const used = await createKey('used', '--expires', '90d');
    await search(used.key);
    const late = await createKey('late');
    await databaseOf(app).execute('UPDATE api_keys SET expires = ? WHERE id = ?', [inSeconds(-1), late.id]);
    expect(problemOf(await search(late.key))).toEqual([401, 'unauthenticated']);

    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/);
    expect(await findListed(used.id)).toEqual({
      ...{ id: used.id, name: 'used', state: 'active', created: time, expires: time, revoked: null },
      ...{ last_used: time, last_address: '127.0.0.1', scopes: null, networks: null, fuse_blown: false },
      ...{ unknown_fields: 'refuse', profile: 'standard' },
      maker: target === 'database' ? { kind: 'system', id: null } : expect.objectContaining({ kind: 'key' }),
    });
    expect(await findListed(late.id)).toMatchObject({ state: 'expired', last_used: null });

    const { code, out, err } = await keys('list');
    expect([code, err]).toEqual([0, '']);
    const [head, ...lines] = out.trimEnd().split('\n');
    expect(head).toMatch(/^ID +STATE +CREATED \(UTC\) +EXPIRES +LAST USED +FROM +SCOPES +NETWORKS +NAME$/);
    expect(lines[0]).toMatch(new RegExp(`^${late.id} +expired .* never +- +all +any +late$`));
    expect(lines[1]).toMatch(new RegExp(`^${used.id} +active .*:\\d\\d +127\\.0\\.0\\.1 +all +any +used$`));
    expect(lines).toHaveLength(Number(await countStored()));
  });

  test('"create" sets the requested options', async () => {
    const { key, id } = await createKey(
      '  HR \u00a0 system ',
      ...['--expires', '2096-02-29', '--scope', 'users:read', '--scope', 'imports:write:hr'],
      ...['--network', '127.0.0.0/8', '--network', '::1', '--unknown-fields', 'ignore', '--profile', 'okta'],
    );
    expect(await findListed(id)).toMatchObject({
      name: 'HR system',
      expires: '2096-02-29T00:00:00.000Z',
      scopes: ['users:read', 'imports:write:hr'],
      networks: ['127.0.0.0/8', '::1/128'],
      unknown_fields: 'ignore',
      profile: 'okta',
    });
    expect((await search(key)).status).toBe(200);
    const refused = await app.guest.get('/audit', { 'x-api-key': key });
    expect(problemOf(refused)).toEqual([403, 'insufficient_scope']);
    const [, line] = (await keys('list')).out.split('\n');
    expect(line).toMatch(/ users:read,imports:write:hr +127\.0\.0\.0\/8,::1\/128 +HR system$/);
  });

  test('"fuse" resets the fuse of a key', async () => {
    const { id } = await createKey('with a fuse');
    const done = await keys('fuse', id.toUpperCase());
    expect(done).toMatchObject({ code: 0, err: '' });
    expect(done.out).toMatch(/^The fuse of key \S+ is off until \d{4}-\d\d-\d\d \d\d:\d\d \(UTC\)\.\n$/);
    expect(await listEvents(id)).toEqual([buildEvent('api_key.created'), buildEvent('api_key.fuse_reset')]);
  });

  test.each(['revoke', 'fuse'])('"%s" exits with 2 for an unknown key', async (command) => {
    const { code, out, err } = await keys(command, UNKNOWN);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/^rollcall failed\. There is no API key /);
  });
});

test('rollcall keys revoke does not treat % as a wildcard', async () => {
  const { code, out, err } = await runKeys(['revoke', '%']);
  expect([code, out]).toEqual([2, '']);
  expect(err).toMatch(/^rollcall failed\. .*UUID/);
});

test.each([
  [['x', '--scope=users:reed'], 'scopes must contain only users:read'],
  [['x', '--network=10.1.2.3/8'], 'networks must contain only networks such as'],
  [['x', '--unknown-fields=drop'], 'Allowed choices are refuse, ignore'],
  [['a\nb'], 'control characters'],
  [['x', '--expires=0d'], 'Pass a future date'],
])('rollcall keys create rejects %j', async (args, message) => {
  const before = await countStored();
  const { code, out, err } = await runKeys(['create', ...args]);
  expect([code, out]).toEqual([2, '']);
  expect(err).toContain(message);
  expect(await countStored()).toBe(before);
});
