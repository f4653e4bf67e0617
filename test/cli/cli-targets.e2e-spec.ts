import { afterAll, describe, expect, test } from '@jest/globals';
import { chmodSync, readFileSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { API_KEY, setUpApp } from '../support/app/app.js';
import { createCertificate } from '../support/process/certificate.js';
import { deletion, writeUsers } from '../support/app/deletion.js';
import { create } from '../support/data/factories.js';
import { csv, writeFile } from '../support/app/imports.js';
import { HEAD, people } from '../support/data/user-file.js';
import { TARGETS, runOn, runCommand } from '../support/process/command.js';

/** Commands with two targets behave the same on the database and through the service, and print the target. */
const app = setUpApp();

describe.each(TARGETS)('rollcall on the %s', (target) => {
  const run = (args: readonly string[]) => runOn(target, app, args);
  const targetLine = () =>
    target === 'database' ? /^Database: .*(rollcall\.sqlite|rollcall_\w+ on )/ : `Service: ${app.url}\n`;

  test('"audit list" filters events by target, action and time', async () => {
    const user = await create(app.key);
    await app.key.put(`/users/${user.uuid}`, { phone: '7', status: 'Blocked' });
    const all = ['audit', 'list', '--target', user.uuid];
    const found = await run([...all, '--action', 'user.created', 'user.blocked']);
    const [head, blocked, created, ...more] = found.out.split('\n');
    expect([found.code, created?.includes('user.created'), more]).toEqual([0, true, ['']]);
    expect(head).toMatch(/^TIME \(UTC\) +ACTION +ACTOR +TARGET +ADDRESS +CHANGES$/);
    expect(blocked).toMatch(/user\.blocked +key first key +user \S+ +127\.0\.0\.1 +status, phone$/);
    const times = ['--since', '2026-01-01', '--until', '2099-01-01'];
    const first = await run([...all, ...times, '--limit', '1']);
    const [, after = ''] = /--after (\S+)/.exec(first.err) ?? [];
    const next = JSON.parse((await run([...all, ...times, '--after', after, '--json'])).out);
    expect(next).toMatchObject([{ action: 'user.created', target: { id: user.uuid } }]);
    expect((await run([...all, '--since', '2099-01-01', '--json'])).out).toBe('[]\n');
    const wrong = await run(['audit', 'list', '--action', 'user.gone']);
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('--action')]);
  });

  test('"users export" writes the same CSV as the API', async () => {
    await create(app.key, { external_id: `E-${target}` });
    const expected = (await app.key.get('/users/export.csv')).text;
    const out = join(app.database.folder, `export-${target}.csv`);
    expect((await run(['users', 'export', '--out', out])).code).toBe(0);
    expect(readFileSync(out, 'utf8').replace(/^\ufeff/, '')).toBe(expected.replace(/^\ufeff/, ''));
    expect(statSync(out).mode & 0o777).toBe(0o600);
    expect((await run(['users', 'export', '--all'])).out).toContain('admin@rollcall.invalid');
  });

  test('"import" previews, plans and applies a file', async () => {
    const name = `i-${target}`;
    const file = csv(HEAD, ...people(name, 5));
    const good = writeFile(app.database, `Ärger ${target}.csv`, file);
    const preview = await run(['import', good, '--preview']);
    expect([preview.code, preview.out]).toEqual([0, expect.stringContaining('ExternalId')]);
    const planned = await run(['import', good, '--dataset', name, '--dry-run']);
    expect(planned.code).toBe(0);
    expect(planned.out).toMatch(/planned \(dry run\)[^]*created +5\n/);
    expect(planned.place).toMatch(targetLine());
    const done = await run(['import', good, '--dataset', name, '--json']);
    expect(done).toMatchObject({ code: 0, place: '' });
    const result = JSON.parse(done.out);
    expect(result).toMatchObject({ state: 'completed', counts: { created: 5 }, options: { dataset: name } });
    expect(result.file.name).toBe(`Ärger ${target}.csv`);
    const moved = writeFile(app.database, 'moved.csv', file.replaceAll('@example.org', '@example.com'));
    const parked = await run(['import', moved, '--dataset', name]);
    expect(parked.code).toBe(2);
    expect(parked.out).toContain('changed_logins_only (email): 5, limit 3');
    const [, id = ''] = /imports approve (\S+),/.exec(parked.out) ?? [];
    const approved = await run(['imports', 'approve', id]);
    expect([approved.code, approved.out]).toEqual([0, expect.stringMatching(/completed[^]*updated +5\n/)]);
    const unknown = await run(['import', good, '--profile', 'nobody']);
    expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining('nobody')]);
  });

  test('"users restore" restores a user from "users deleted"', async () => {
    const user = await create(app.key, { external_id: `D-${target}` });
    const since = new Date().toISOString();
    await writeUsers(app, [deletion(user.uuid as string)]);
    const listed = await run(['users', 'deleted', '--since', since]);
    expect(listed.code).toBe(0);
    expect(listed.out).toMatch(new RegExp(`\\n${String(user.uuid)} .* D-${target}\\n$`));
    const back = await run(['users', 'restore', String(user.uuid)]);
    expect([back.code, back.out]).toEqual([0, expect.stringMatching(/ is restored\.\n$/)]);
    expect((await app.key.get(`/users/${String(user.uuid)}`)).status).toBe(200);
    expect((await run(['users', 'restore', String(user.uuid)])).code).toBe(2);
    expect(JSON.parse((await run(['users', 'deleted', '--since', since, '--json'])).out).Count).toBe(0);
  });

  test('"users block" continues after an error', async () => {
    const user = await create(app.key);
    const reason = 'gelöscht: 100 % “alt”';
    const block = ['users', 'block', 'no-user', 'admin', user.uuid, '--reason'];
    const long = await run([...block, 'x'.repeat(501)]);
    expect(long.code).toBe(2);
    expect(long.err).toContain('--reason must be one line of at most 500');
    const { code, out, err } = await run([...block, reason]);
    expect([code, out]).toEqual([1, expect.stringMatching(/^\S+ \(\S+\) is blocked\.\n$/)]);
    expect(err).toMatch(/^No user has .* "no-user"\.\nadmin \(\S+\) was not changed: .*Webmaster/);
    expect((await run(['audit', 'list', '--target', user.uuid])).out).toContain(`status “${reason}”`);
  });
});

test('rollcall import --url rejects a local file as --profile', async () => {
  const profile = writeFile(app.database, 'payroll.json', '{"columns": {"No": "ExternalId"}}');
  const file = writeFile(app.database, 'payroll.csv', csv('No', '1'));
  const args = ['import', file, '--profile', profile, '--url', app.url, '--key', API_KEY];
  const { code, err } = await runCommand(app.database, args);
  expect(code).toBe(2);
  expect(err).toMatch(/the service cannot read the file .*\. Save the profile/);
});

describe('rollcall with --url', () => {
  const list = (args: readonly string[]) => runCommand(app.database, ['keys', 'list', ...args]);

  test('rejects a key file that other users can access', async () => {
    const file = writeFile(app.database, 'key', `${API_KEY}\n`);
    chmodSync(file, 0o600);
    expect((await list(['--url', app.url, '--key-file', file])).code).toBe(0);
    for (const mode of [0o640, 0o604, 0o622]) {
      chmodSync(file, mode);
      const open = await list(['--url', app.url, '--key-file', file]);
      expect(open.code).toBe(2);
      expect(open.err).toMatch(/Other users can read .*\. Run chmod 600/);
      expect(open.err).not.toContain(API_KEY);
    }
    const empty = writeFile(app.database, 'none', '\n');
    chmodSync(empty, 0o600);
    expect((await list(['--url', app.url, '--key-file', empty])).err).toMatch(/is empty/);
    expect((await list(['--key-file', file])).err).toMatch(/'--key-file' requires --url/);
    expect((await list(['--url', app.url])).err).toMatch(/--url needs an API key: --key, --key-file/);
  });
});

describe('rollcall with --url of another server', () => {
  const servers: Server[] = [];
  const listen = async (server: Server): Promise<number> => {
    servers.push(server.listen(0, '127.0.0.1'));
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  afterAll(() => servers.forEach((server) => void server.close()));
  const list = (url: string) => runCommand(app.database, ['keys', 'list', '--url', url, '--key', API_KEY]);

  test('sends no key to a redirect target', async () => {
    const received: (string | undefined)[] = [];
    const target = createServer(({ headers }, response) => {
      response.end(`${received.push(String(headers['x-api-key']))}`);
    });
    const elsewhere = `http://127.0.0.1:${await listen(target)}`;
    const location = `${elsewhere}/api/0.3/api_keys`;
    const redirect = createServer((_, response) => void response.writeHead(308, { location }).end());
    const port = await listen(redirect);
    const { code, err } = await list(`http://127.0.0.1:${port}`);
    expect(code).toBe(2);
    expect(err).toContain(`redirects to ${elsewhere}. The API key was not sent there`);
    expect(received).toEqual([]);
  });

  test('rejects a self-signed certificate', async () => {
    const { cert, key } = createCertificate(app.database.folder, 'IP:127.0.0.1');
    const server = createTlsServer({ cert: readFileSync(cert), key: readFileSync(key) });
    const { code, err } = await list(`https://127.0.0.1:${await listen(server)}`);
    expect(code).toBe(2);
    expect(err).toMatch(/cannot be trusted \(\w*SELF_SIGNED\w*\).*NODE_EXTRA_CA_CERTS/);
  });
});
