import { expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { API_KEY } from '../support/app/app.js';
import { Client } from '../support/app/client.js';
import { Process, ROOT, envOf, setUpDatabase, occupyPort } from '../support/process/process.js';

/** The service as a process, and the output of its first start. */
const database = setUpDatabase();

const GENERATED_KEY = /rollcall_[0-9a-f]{12}_[\w-]{43}_[0-9a-f]{8}/;
const PASSWORD = /^ *Password +(\S{16,})$/m;
const countIn = (text: string, part: string) => text.split(part).length - 1;
const readSecrets = ({ err }: Process) => ({
  key: GENERATED_KEY.exec(err)?.[0] ?? '(no key)',
  password: PASSWORD.exec(err)?.[1] ?? '(no password)',
});
/** Runs the printed "Try it" commands in a shell, with the key filled in. */
const runCurl = ({ err }: Process, key = 'no key') => {
  const lines = /^Try it:\n([^]*?)\n\n/m.exec(err)?.[1] ?? 'false';
  return execFileSync(
    '/bin/sh',
    ['-c', `${lines.replace('KEY=...', `KEY=${key}`)} --silent --show-error --fail`],
    { env: { PATH: process.env['PATH'] }, encoding: 'utf8' },
  );
};

const { version: VERSION } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string;
};

/** Parses standard output, which must contain only log lines. */
function parseLog({ out }: Process): Record<string, unknown>[] {
  const lines = out.split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('the first start prints working URLs and credentials', async () => {
  const service = await Process.startService({ ...envOf(database), BASE_URL: 'https://people.example.org' });
  expect(service.url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
  expect(service.err).toMatch(new RegExp(`^ *Swagger UI +${service.url}/docs$`, 'm'));
  expect((await new Client(service.url).fetch('GET', '/docs')).text).toContain('swagger-ui');

  const found = JSON.parse(runCurl(service)) as { Count: number; Results: object[] };
  expect(found).toMatchObject({ Count: 1, Results: [{ username: 'admin', roles: ['Webmaster'] }] });

  const { key, password } = readSecrets(service);
  const login = await new Client(service.url).post('/sessions/login', { username: 'admin', password });
  expect([login.status, login.body.username]).toEqual([200, 'admin']);
  expect((await new Client(service.url, { 'x-api-key': key }).get('/users/search')).status).toBe(200);

  await service.stop();
  // The key is printed alone and in the curl command. The log of the requests contains neither secret.
  expect(countIn(service.printed, password)).toBe(1);
  expect(countIn(service.printed, key)).toBe(2);
  expect(service.unexpectedOutput).toBe('');
  const lines = parseLog(service);
  expect(lines).toContainEqual(expect.objectContaining({ path: '/api/0.3/sessions/login' }));
  expect(lines.filter(({ msg }) => String(msg).startsWith('service '))).toEqual([
    expect.objectContaining({
      msg: 'service started',
      version: VERSION,
      node: process.version,
      engine: 'sqlite',
      sqlite: process.versions['sqlite'],
      workers: 1,
      url: service.url,
      base_url: 'https://people.example.org',
    }),
    expect.objectContaining({ msg: 'service ended', exit: 0 }),
  ]);
  expect(lines.at(-1)?.['msg']).toBe('service ended');
});

test('the built service serves the committed OpenAPI file and Swagger UI', async () => {
  const service = await Process.startService(envOf(database));
  const nobody = new Client(service.url);
  const { body } = await nobody.fetch('GET', '/docs/openapi.json');
  const committed = readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8');
  expect(`${JSON.stringify(body, null, 2)}\n`).toBe(committed);
  for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js', 'swagger-ui-standalone-preset.js']) {
    expect((await nobody.fetch('GET', `/docs/${file}`)).status).toBe(200);
  }
});

test('the second start ignores new bootstrap credentials and prints no secrets', async () => {
  const first = await Process.startService(envOf(database));
  await first.stop();
  const { key, password } = readSecrets(first);
  const late = { BOOTSTRAP_API_KEY: API_KEY, BOOTSTRAP_WEBMASTER_PASSWORD: 'a password of ours' };
  const second = await Process.startService({ ...envOf(database), ...late });
  const logIn = async (given: string) =>
    (await new Client(second.url).post('/sessions/login', { username: 'admin', password: given })).status;
  expect(await logIn(password)).toBe(200);
  expect(await logIn(late.BOOTSTRAP_WEBMASTER_PASSWORD)).toBe(401);
  expect((await new Client(second.url, { 'x-api-key': key }).get('/users/search')).body.Count).toBe(1);
  expect((await new Client(second.url, { 'x-api-key': API_KEY }).get('/users/search')).status).toBe(401);
  await second.stop();
  expect(second.err).toMatch(/^ *Swagger UI +http:\S+\/docs$/m);
  expect(second.printed).not.toMatch(GENERATED_KEY);
  expect(second.printed).not.toMatch(/password|curl/i);
  expect(second.printed).not.toContain(password);
});

test('bootstrap credentials from the settings work and are never printed', async () => {
  const secretsSet = { BOOTSTRAP_API_KEY: API_KEY, BOOTSTRAP_WEBMASTER_PASSWORD: 'a password of ours' };
  const service = await Process.startService({ ...envOf(database), ...secretsSet });
  expect(JSON.parse(runCurl(service, API_KEY))).toMatchObject({ Count: 1 });
  const password = secretsSet.BOOTSTRAP_WEBMASTER_PASSWORD;
  const login = await new Client(service.url).post('/sessions/login', { username: 'admin', password });
  expect(login.status).toBe(200);
  await service.stop();
  expect(service.err).toContain('BOOTSTRAP_WEBMASTER_PASSWORD');
  expect(service.printed).not.toContain(API_KEY);
  expect(service.printed).not.toContain(password);
  expect(service.printed).not.toMatch(GENERATED_KEY);
});

test('BOOTSTRAP_API_KEY is valid from the first response of the service', async () => {
  const { port, release } = await occupyPort();
  await release();
  const service = new Process('dist/main.js', {
    ...envOf(database),
    PORT: String(port),
    BOOTSTRAP_API_KEY: API_KEY,
  });
  const client = new Client(`http://127.0.0.1:${port}`, { 'x-api-key': API_KEY });
  const first = await service.waitForResponse(() => client.get('/users/search'));
  expect({ status: first.status, Count: first.body.Count }).toEqual({ status: 200, Count: 1 });
});

test('a port conflict at the first start neither loses nor repeats credentials', async () => {
  const { port, release } = await occupyPort();
  const refused = new Process('dist/main.js', { ...envOf(database), PORT: String(port) });
  expect(await refused.exit).toEqual({ code: 1, signal: null });
  expect(refused.err).toMatch(/in use/);
  expect(refused.err).toContain(String(port));
  expect(refused.err).not.toMatch(/^\s+at /m);
  expect(refused.err).not.toContain('is running');
  await release();

  const next = await Process.startService(envOf(database));
  const printed = refused.err + next.err;
  expect(countIn(printed, 'Password ')).toBe(1);
  expect(countIn(printed, 'API key ')).toBe(1);
  const key = GENERATED_KEY.exec(printed)?.[0] ?? '';
  expect((await new Client(next.url, { 'x-api-key': key }).get('/users/search')).status).toBe(200);
});
