import { expect, test } from '@jest/globals';
import { loadEnv } from '../../src/platform/config/env.js';
import {
  checkAudit,
  checkCookie,
  checkDatabaseTls,
  checkHttps,
  checkMetrics,
  checkNodeSupport,
  checkProxy,
  checkSecrets,
} from '../../src/operations/doctor/security-checks.js';
import { type StoredKey, findKeyRisks } from '../../src/operations/doctor/key-checks.js';
import type { Finding } from '../../src/operations/doctor/finding.js';

const levelsOf = (findings: Finding[]) => findings.map(({ level }) => level).join(' ');

test.each([
  ['20.20.2', '2026-04-30', 'fail'],
  ['22.23.0', '2027-04-30', 'ok'],
  ['22.23.0', '2027-05-01', 'fail'],
  ['24.21.0', '2026-11-22', 'ok'],
  ['24.21.0', '2028-05-01', 'fail'],
  ['23.1.0', '2026-11-22', 'fail'],
  ['18.20.4', '2026-11-22', 'fail'],
  ['28.0.0', '2028-11-22', 'ok'],
])('the doctor rates Node.js %s on the date %s as %s', (version, today, level) => {
  expect(levelsOf(checkNodeSupport(version, today))).toBe(level);
});

const OPEN = { HOST: '0.0.0.0' };
const HTTPS = { BASE_URL: 'https://users.example.org' };
const MYSQL = 'mysql://rollcall:Zk3vQ8wXr1tYb6nM@db.example.org/rollcall';
const GUESSED = 'topsecret1';

test.each<[string, Record<string, string>, string, (env: ReturnType<typeof loadEnv>) => Finding[]]>([
  ['https', {}, 'warn', checkHttps],
  ['https', OPEN, 'fail', checkHttps],
  ['https', { ...OPEN, ...HTTPS }, 'warn', checkHttps],
  ['https', HTTPS, 'ok', checkHttps],
  ['https', { ...OPEN, TLS_CERT_FILE: 'c', TLS_KEY_FILE: 'k' }, 'ok', checkHttps],
  ['cookie', {}, 'warn', checkCookie],
  ['cookie', HTTPS, 'ok', checkCookie],
  ['cookie', { ...HTTPS, SESSION_COOKIE_NAME: 'sid' }, 'warn', checkCookie],
  ['cookie', { ...HTTPS, SESSION_COOKIE_NAME: '__Host-sid' }, 'ok', checkCookie],
  ['secrets', {}, 'ok', checkSecrets],
  ['secrets', { BOOTSTRAP_API_KEY: 'Zk3vQ8wXr1tYb6nMpL7sD4fG9hJ2kC5v' }, 'warn', checkSecrets],
  ['secrets', { METRICS_TOKEN: 'a'.repeat(16) }, 'fail', checkSecrets],
  ['secrets', { DATABASE_URL: MYSQL }, 'ok', checkSecrets],
  ['secrets', { DATABASE_URL: 'mysql://rollcall@db/rollcall' }, 'fail', checkSecrets],
  ['secrets', { DATABASE_URL: `mysql://rollcall:${GUESSED}@db/rollcall` }, 'warn', checkSecrets],
  ['secrets', { DATABASE_URL: 'mysql://rollcall:rollcall-2026-11-22@db/rollcall' }, 'warn', checkSecrets],
  ['database tls', {}, 'ok', checkDatabaseTls],
  ['database tls', { DATABASE_URL: MYSQL }, 'fail', checkDatabaseTls],
  ['database tls', { DATABASE_URL: MYSQL, DATABASE_TLS_CA_FILE: 'ca.pem' }, 'ok', checkDatabaseTls],
  ['database tls', { DATABASE_URL: MYSQL.replace('db.example.org', 'localhost') }, 'ok', checkDatabaseTls],
  ['database tls', { DATABASE_URL: MYSQL.replace('db.', 'localhost,db.') }, 'fail', checkDatabaseTls],
  ['proxy', {}, 'ok', checkProxy],
  ['proxy', HTTPS, 'warn', checkProxy],
  ['proxy', { ...HTTPS, TRUST_PROXY: '1' }, 'ok', checkProxy],
  ['proxy', { ...HTTPS, ...OPEN, TRUST_PROXY: '1' }, 'warn', checkProxy],
  ['proxy', { ...HTTPS, ...OPEN, TRUST_PROXY: '10.0.0.0/8, 192.0.2.1' }, 'ok', checkProxy],
  ['metrics', {}, 'warn', checkMetrics],
  ['metrics', { METRICS_TOKEN: 'Zk3vQ8wXr1tYb6nM' }, 'ok', checkMetrics],
  ['audit', {}, 'warn', checkAudit],
  ['audit', { AUDIT_RETENTION_DAYS: '30' }, 'warn', checkAudit],
  ['audit', { AUDIT_RETENTION_DAYS: '365' }, 'ok', checkAudit],
])('the doctor check "%s" with the settings %j returns %s', (_, settings, expected, check) => {
  const findings = check(loadEnv(settings));
  expect(levelsOf(findings)).toBe(expected);
  const { DATABASE_URL: _url, BASE_URL: _base, HOST: _host, TRUST_PROXY: _proxy, ...values } = settings;
  for (const value of [...Object.values(values), GUESSED].filter((text) => text.length > 8))
    expect(JSON.stringify(findings)).not.toContain(value);
});

test('the doctor warns about permanent, unrestricted and unused API keys', () => {
  const now = '2026-11-22 00:00:00.000';
  const key: StoredKey = {
    id: '7',
    revoked: null,
    name: 'hr',
    created: '2026-11-01 00:00:00.000',
    expires: '2027-01-01 00:00:00.000',
    last_used: null,
    scopes: '["users:read"]',
  };
  const check = (...facts: Partial<StoredKey>[]) => {
    const keys = facts.map((each) => ({ ...key, ...each }));
    return findKeyRisks(keys, now).map(({ level, message }) => `${level}: ${message}`);
  };
  const good = 'usable, all with an expiry date and limited scopes';
  expect(check({}, {})).toEqual([`ok: 2 ${good}`]);
  const endless = '1 of 1 never expire (create new keys with --expires): "a \\"b\\"" (7)';
  expect(check({ expires: null, name: 'a "b"' })[0]).toBe(`warn: ${endless}`);
  const ended = [
    { revoked: now, scopes: null },
    { expires: now, scopes: null },
  ];
  expect(check(...ended, {})).toEqual([`ok: 1 ${good}`]);
  expect(check({ scopes: null }, {}).join()).toContain('1 of 2 have all rights of a Webmaster: "hr" (7)');
  expect(check({ created: '2026-08-01 00:00:00.000' })[0]).toContain('were not used for 90 days');
  const many = check(...Array.from({ length: 7 }, () => ({ scopes: null })));
  expect(many[0]).toMatch(/: ("hr" \(7\)(, )?){5} and 2 more$/);
});
