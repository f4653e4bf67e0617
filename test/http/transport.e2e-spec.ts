import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setUpApp } from '../support/app/app.js';
import { createCertificate } from '../support/process/certificate.js';
import { type TestDatabase, createDatabase } from '../support/app/database.js';
import { Process, envOf } from '../support/process/process.js';

/** Security headers, connections and HTTPS. */
const app = setUpApp();

describe('security headers', () => {
  test.each([
    ['/api/0.3/status', 200],
    ['/api/0.3/users', 405],
    ['/nowhere', 404],
    ['/health/live', 200],
  ])('are sent for GET %s (status %d)', async (path, status) => {
    const answer = await app.guest.fetch('GET', path);
    expect(answer.status).toBe(status);
    expect(answer.headers).toMatchObject({
      'content-security-policy':
        "default-src 'none';base-uri 'none';form-action 'none';frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
    });
    expect(answer.headers['strict-transport-security']).toBeUndefined();
    for (const name of ['x-powered-by', 'server']) expect(answer.headers[name]).toBeUndefined();
  });
  const PAGES = ['/', '/problems/not_found', '/docs', '/console', '/assets/default-avatar.svg'];
  test.each(PAGES)('forbid showing %s in a frame', async (path) => {
    const { headers } = await app.guest.with({ accept: 'text/html' }).fetch('GET', path);
    expect(headers['content-security-policy']).toMatch(/frame-ancestors 'none'/);
    expect(headers['x-frame-options']).toBe('DENY');
  });
  test('permit only scripts of the service in Swagger UI', async () => {
    const { headers } = await app.guest.fetch('GET', '/docs');
    expect(headers['content-security-policy']).toContain("script-src 'self';");
    expect(headers['content-security-policy']).not.toContain('unsafe-eval');
  });
});

test('500 idle connections do not block a request', async () => {
  const { hostname, port } = new URL(app.url);
  const sockets = Array.from({ length: 500 }, () => connect(Number(port), hostname));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  expect((await app.key.get('/users/search')).status).toBe(200);
  for (const socket of sockets) socket.destroy();
});

describe('built-in HTTPS', () => {
  let database: TestDatabase;
  let settings: Record<string, string>;
  beforeAll(async () => {
    database = await createDatabase();
    const { cert, key } = createCertificate(database.folder, 'IP:127.0.0.1');
    settings = { ...envOf(database), TLS_CERT_FILE: cert, TLS_KEY_FILE: key };
  });
  afterAll(async () => {
    await Process.killAll();
    await database.drop();
  });

  test('rejects old protocols and weak ciphers', async () => {
    const service = await Process.startService(settings);
    const url = /^ *API +(https:\S+)$/m.exec(service.err)?.[1] ?? '';
    const ca = readFileSync(settings['TLS_CERT_FILE'] ?? '');
    const [answer] = (await once(get(`${url}/status`, { ca }), 'response')) as [IncomingMessage];
    answer.resume();
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['strict-transport-security']).toMatch(/^max-age=\d{8}/);
    const weak = get(`${url}/status`, { ca, maxVersion: 'TLSv1.2', ciphers: 'AES256-SHA' });
    await expect(once(weak, 'response')).rejects.toThrow(/handshake failure/);
    const old = get(`${url}/status`, {
      ca,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    });
    await expect(once(old, 'response')).rejects.toThrow(/protocol version/);
    expect(await service.stop()).toEqual({ code: 0, signal: null });
  });

  test.each([
    ['a missing key file', { TLS_KEY_FILE: '/no/such/key.pem' }, /TLS_KEY_FILE: .*ENOENT/],
    ['a certificate without a key', { TLS_KEY_FILE: '' }, /TLS_KEY_FILE is missing/],
    ['an invalid key', { TLS_KEY_FILE: 'broken' }, /Rollcall cannot start/],
  ])('does not start with %s', async (_, wrong, message) => {
    const broken = join(database.folder, 'broken.pem');
    writeFileSync(broken, 'no key');
    const key = wrong.TLS_KEY_FILE === 'broken' ? { TLS_KEY_FILE: broken } : wrong;
    const service = new Process('dist/main.js', { ...settings, ...key });
    const { code } = await service.exit;
    expect(code).not.toBe(0);
    expect(service.err).toMatch(message);
    expect(service.err).not.toMatch(/ at .*\.js/);
  });
});
