import { beforeEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getUserName } from '../../src/cli/application.js';
import { API_KEY, setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { csv, findUser, readFailed, readRun, runImport, writeFile } from '../support/app/imports.js';
import { HEAD, people } from '../support/data/user-file.js';
import { TARGETS, runOn, runCommand } from '../support/process/command.js';
import { occupyPort } from '../support/process/process.js';

/** `rollcall imports` on the database of a running service and through the service. */
const app = setUpApp();
let name = '';
beforeEach(() => void (name = `d-${randomUUID()}`));

const UNKNOWN = '01a1fc45-0000-7000-8000-000000000000';
const runImports = (args: readonly string[], more: Record<string, string> = {}) =>
  runCommand(app.database, ['imports', ...args], more);
const buildFile = (users: number, phone: string, bad = 0): string => {
  const rows = people(`${name}-`, users, (i) => [`${phone}${i}`]);
  return csv(
    `${HEAD},Phone`,
    ...rows.map((row, i) => (i < bad ? row.replace(/[^,]*@[^,]*/, 'no address') : row)),
  );
};
/** Starts a run that waits for approval, because 4 of 12 phones change. */
async function parkRun(): Promise<Json> {
  await runImport(app.key, buildFile(12, '1'), `dataset=${name}`);
  const lines = buildFile(12, '1').split('\r\n');
  const changed = lines.map((line, i) => (i > 0 && i < 5 ? `${line}9` : line)).join('\r\n');
  const run = await runImport(app.key, changed, `dataset=${name}`);
  expect(run.state).toBe('needs_approval');
  return run;
}
/** Runs an import with one failed row. */
const importWithError = () => runImport(app.key, buildFile(3, '1', 1), `dataset=${name}`);

describe.each(TARGETS)('rollcall imports on the %s', (target) => {
  const run = (...args: string[]) => runOn(target, app, ['imports', ...args]);

  test('"list" filters imports by state and data set', async () => {
    const { id } = await parkRun();
    const shown = await run('list', '--dataset', name, '--state', 'needs_approval', 'completed');
    const [head, first, second, ...rest] = shown.out.split('\n');
    expect([shown.code, shown.err, rest]).toEqual([0, '', ['']]);
    expect(head).toMatch(/^ID +STATE +CREATED \(UTC\) +DATA SET +ROWS +CHANGED +FAILED +FILE$/);
    expect(first).toMatch(new RegExp(`^${id} +needs_approval .* ${name} +12 +4 planned +0 +upload\\.csv$`));
    expect(second).toMatch(/ completed .* 12 +12 +0 +upload\.csv$/);
    const json = JSON.parse((await run('list', '--dataset', name, '--json')).out);
    expect([json.Count, json.Results[0].id]).toEqual([2, id]);
    const page = await run('list', '--dataset', name, '--limit', '1');
    expect([page.out.split('\n').length, page.err]).toEqual([3, '2 in total. Next page: --offset 1\n']);
    expect((await run('list', '--dataset', name, '--limit', '1', '--offset', '1')).err).toBe('');
  });

  test('"show" prints the guard that requires approval', async () => {
    const { id } = await parkRun();
    const { code, out, err } = await run('show', id);
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain('changed_field (phone): 4, limit 3. Many users would get another value');
    const heads = ['ExternalId', 'Name'].map((head) => head.padEnd(name.length + 2)).join('  ');
    const [first, second] = [0, 1].map((i) => `${i + 2}     ${name}-${i}  ${name}-${i}  1${i}      1${i}9`);
    expect(out).toContain(`Line  ${heads}  Before  After\n${first}\n${second}`);
    expect(out).toContain(`rollcall imports approve ${id}, or reject it.`);
    expect(out).toMatch(new RegExp(`Data set +${name}\n`));
    expect(JSON.parse((await run('show', id, '--json')).out)).toEqual(await readRun(app.key, id));
  });

  test('"rows" filters changes by outcome and external id', async () => {
    const { id } = await importWithError();
    const failed = await run('rows', id, '--outcome', 'error');
    expect([failed.code, failed.err]).toEqual([0, '']);
    const row = ` +2 +error +${name}-0 +${name}-0 +invalid_format: email must be .*`;
    expect(failed.out).toMatch(new RegExp(`^Line +Outcome +ExternalId +Name +Details\n${row}\n$`));
    const found = await run('rows', id, '--external-id', `${name}-0`, 'nobody');
    const missing = await run('rows', id, '--external-id', 'nobody');
    expect([found.code, found.out]).toEqual([0, failed.out]);
    expect(missing.out).toBe('Line  Outcome  ExternalId  Name  Details\n');
    expect((await run('rows', id)).out).toContain('phone: "" → 11');
    expect((await run('rows', id, '--limit', '2')).err).toBe('3 in total. Next page: --after 3\n');
    const rest = await run('rows', id, '--limit', '2', '--after', '3', '--json');
    expect([rest.err, JSON.parse(rest.out).Results.map(({ line }: Json) => line)]).toEqual(['', [4]]);
  });

  test('"approve" waits for the result of the import', async () => {
    const { id } = await parkRun();
    const { code, out, err } = await run('approve', id);
    expect([code, out]).toEqual([0, expect.stringContaining(`Import ${id}: completed\n`)]);
    expect(out).toMatch(/updated +4\n/);
    expect(err).toMatch(/^((queued|validating|applying) …\n)*$/);
    expect((await findUser(app.key, `${name}-0`)).phone).toBe('109');
    const error = `rollcall failed. Import ${id} is completed. It must be planned or needs_approval.\n`;
    expect(await run('approve', id)).toMatchObject({ code: 2, out: '', err: error });
    const bad = await runImport(app.key, buildFile(3, '2', 1), `dataset=${name}&dry_run=true`);
    expect((await run('approve', bad.id)).code).toBe(1);
  });

  test('"reject" and "cancel" leave users unchanged', async () => {
    const rejected = await run('reject', (await parkRun()).id, '--json');
    expect([rejected.code, JSON.parse(rejected.out).state]).toEqual([0, 'rejected']);
    const plan = await runImport(app.key, buildFile(3, '7'), `dataset=${name}&dry_run=true`);
    const cancelled = await run('cancel', plan.id);
    expect(cancelled.code).toBe(0);
    expect(cancelled.out).toContain(`Import ${plan.id}: cancelled`);
    expect((await findUser(app.key, `${name}-0`)).phone).toBe('10');
  });

  test('"revert --dry-run" only plans the revert', async () => {
    const first = await runImport(app.key, buildFile(3, '1'), `dataset=${name}`);
    const plan = await run('revert', first.id, '--dry-run', '--json');
    const planned = JSON.parse(plan.out);
    expect(plan.code).toBe(0);
    expect(planned).toMatchObject({ state: 'planned', dry_run: true, counts: { deleted: 3 } });
    expect((await findUser(app.key, `${name}-0`)).status).toBe('Active');
    expect((await run('approve', planned.id)).code).toBe(0);
    expect(await findUser(app.key, `${name}-0`)).toBeUndefined();
    const twice = await run('revert', first.id);
    expect(twice.code).toBe(2);
    expect(twice.err).toContain(`already reverted by import ${planned.id}`);
    const undone = await run('revert', planned.id);
    expect([undone.code, undone.out]).toEqual([0, expect.stringMatching(/restored +3\n/)]);
    expect(undone.out).toMatch(new RegExp(`File +revert of ${planned.id as string}\\n`));
  });

  test('"failed" writes the failed rows as CSV', async () => {
    const { id } = await importWithError();
    const text = await readFailed(app.key, id);
    expect(text).toContain('no address');
    const printed = await run('failed', id);
    expect([printed.code, printed.out.replace(/^\ufeff/, '')]).toEqual([0, text.replace(/^\ufeff/, '')]);
    const out = join(app.database.folder, `${name}.csv`);
    expect((await run('failed', id, '--out', out)).code).toBe(0);
    expect((await run('failed', UNKNOWN, '--out', out)).code).toBe(2); // keeps the earlier file
    expect(readFileSync(out, 'utf8')).toBe(`\ufeff${text.replace(/^\ufeff/, '')}`);
  });

  test.each(['show', 'rows', 'approve', 'reject', 'cancel', 'revert', 'failed'])(
    '"%s" exits with 2 for an unknown import',
    async (command) => {
      const { code, out, err } = await run(command, UNKNOWN);
      expect([code, out]).toEqual([2, '']);
      expect(err).toBe(`rollcall failed. There is no import ${UNKNOWN}.\n`);
    },
  );
});

test.each([
  [['show'], "missing required argument 'id'"],
  [['show', 'x'], 'x is not an import id. "rollcall imports list" shows all imports.'],
  [['list', '--state', 'parked'], "option '--state' must be one of queued"],
  [['list', '--limit', '0'], "option '--limit' must be an integer of at least 1"],
  [['rows', UNKNOWN, '--outcome', 'bad'], "option '--outcome' must be one of created"],
  [['rows', UNKNOWN, '--after', 'x'], "option '--after' must be the cursor of a page"],
  [['list', '--url', 'http://127.0.0.1:1'], '--url needs an API key'],
  [['list', '--url', 'localhost', '--key', 'k'], '--url must be the address of a service'],
])('rollcall imports %j exits with 2 and prints the reason', async (args, reason) => {
  const { code, out, err } = await runImports(args);
  expect([code, out]).toEqual([2, '']);
  expect(err).toContain(reason);
});

test('an import from the command line shows the operating-system user', async () => {
  const file = writeFile(app.database, 'users.csv', buildFile(1, '1'));
  const { out } = await runCommand(app.database, ['import', file, '--dataset', name, '--json']);
  const { id, actor } = JSON.parse(out);
  const address = `unix:${getUserName()}`;
  expect(actor).toEqual({ kind: 'system', id: null, name: '', address });
  expect((await runImports(['show', id])).out).toContain(` UTC by system from ${address}\n`);
  const { Results } = (await app.key.get(`/audit?actor=${id}`)).body;
  const created = (await app.key.get(`/audit?target=${id}&action=import.created`)).body.Results;
  expect(Results[0].actor.started_by).toEqual({ kind: 'system', id: null, name: address });
  expect(created[0].actor.name).toBe(address);
});

test('rollcall imports --url reports a wrong key or unreachable service', async () => {
  const refused = await runImports(['list', '--url', app.url, '--key', 'wrong']);
  expect(refused).toMatchObject({ code: 2, out: '', err: expect.stringMatching(/ Check --key\.\n$/) });
  const { port, release } = await occupyPort();
  await release();
  const away = await runImports(['list', '--url', `http://127.0.0.1:${port}`, '--key', 'k']);
  const error = `No service answers at http://127.0.0.1:${port} (ECONNREFUSED). Check --url.`;
  expect([away.code, away.err]).toEqual([2, `rollcall failed. ${error}\n`]);
  expect((await runImports(['list', '--url', `${app.url}/`], { ROLLCALL_KEY: API_KEY })).code).toBe(0);
});
