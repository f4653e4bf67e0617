import { expect, test } from '@jest/globals';
import { loadEnv } from '../../src/platform/config/env.js';

type Variables = Record<string, string>;

/** `login-cookie` tests the cookie names without a certificate. */
test('a TLS certificate gives the session cookie the prefix __Host-', () => {
  expect(loadEnv({ TLS_CERT_FILE: 'x.pem' }).sessionCookieName).toBe('__Host-rollcall_session');
});

test.each([
  [{}, 'http://127.0.0.1:3000'],
  [{ HOST: 'intranet', PORT: '80' }, 'http://intranet:80'],
  [{ HOST: '::1' }, 'http://[::1]:3000'],
  [{ HOST: '::' }, 'http://[::1]:3000'],
  [{ HOST: '0.0.0.0' }, 'http://127.0.0.1:3000'],
  [{ BASE_URL: 'https://x.example.org/' }, 'https://x.example.org'],
])('with the settings %j, the base URL is %s', (variables: Variables, url) => {
  expect(loadEnv(variables).baseUrl).toBe(url);
  expect(URL.canParse(url)).toBe(true);
});

test('without DATABASE_URL, the database is a SQLite file in DATA_DIR', () => {
  expect(loadEnv({ DATA_DIR: '/var/lib/x' }).databaseUrl).toBe('sqlite:/var/lib/x/rollcall.sqlite');
  expect(loadEnv({ DATABASE_URL: 'mysql://db/x' }).databaseUrl).toBe('mysql://db/x');
});
