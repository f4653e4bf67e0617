import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { TestApp } from '../support/app/app.js';
import { create } from '../support/data/factories.js';
import { csv, imported } from '../support/app/imports.js';
import { PLACES, runAt } from '../support/process/command.js';

let app: TestApp;
jest.setTimeout(120_000);
beforeAll(async () => void (app = await TestApp.start()));
afterAll(() => app.end());

describe.each(PLACES)('on the %s', (door) => {
  const run = (args: readonly string[]) => runAt(door, app, args);

  test('the reason of a command is in the audit, whatever it changes', async () => {
    const reason = 'gelöscht: 100 % “alt”';
    const because = (...args: string[]) => run([...args, '--reason', reason]);
    const user = await create(app.key);
    const { id: key } = (await app.key.post('/api_keys', { name: 'old' })).body;
    const file = csv('ExternalId,Username,Email', `W-${door},w.${door},w.${door}@example.org`);
    const plan = await imported(app.key, file, 'dry_run=true');
    for (const [action, target, ...args] of [
      ['user.blocked', user.uuid, 'users', 'block', user.uuid],
      ['user.reactivated', user.uuid, 'users', 'reactivate', user.uuid],
      ['api_key.revoked', key, 'keys', 'revoke', key],
      ['import.approved', plan.id, 'imports', 'approve', plan.id],
      ['import.reverted', plan.id, 'imports', 'revert', plan.id],
    ] as string[][]) {
      const { code, err } = await because(...args);
      expect([action, code, err]).toEqual([action, 0, expect.any(String)]);
      const [event] = (await app.key.get(`/audit?target=${target}&action=${action}`)).body.Results;
      expect([action, event?.reason]).toEqual([action, reason]);
    }
    expect((await run(['audit', 'list', '--target', key])).out).toContain(reason);
    const long = await run(['users', 'block', user.uuid, '--reason', 'x'.repeat(501)]);
    expect([long.code, long.err]).toEqual([2, expect.stringContaining('--reason must have at most 500')]);
    expect((await app.key.get(`/users/${user.uuid}`)).body.status).toBe('Active');
  });
});
