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

const levels = (findings: Finding[]) => findings.map(({ level }) => level).join(' ');

test.each([
  ['20.20.2', '2026-04-30', 'fail'],
  ['22.23.0', '2027-04-30', 'ok'],
  ['22.23.0', '2027-05-01', 'fail'],
  ['24.21.0', '2026-11-22', 'ok'],
  ['24.21.0', '2028-05-01', 'fail'],
  ['23.1.0', '2026-11-22', 'fail'],
  ['18.20.4', '2026-11-22', 'fail'],
  ['28.0.0', '2028-11-22', 'ok'],
])('Node %s on %s: %s', (version, today, level) => {
  expect(levels(checkNodeSupport(version, today))).toBe(level);
});

const OPEN = { HOST: '0.0.0.0' };
const HTTPS = { BASE_URL: 'https://users.example.org' };
const MYSQL = 'mysql://rollcall:Zk3vQ8wXr1tYb6nM@db.example.org/rollcall';
const GUESSED = 'topsecret1';

test.each<[string, (env: ReturnType<typeof loadEnv>) => Finding[], Record<string, string>, string]>([
  ['https', checkHttps, {}, 'warn'],
  ['https', checkHttps, OPEN, 'fail'],
  ['https', checkHttps, { ...OPEN, ...HTTPS }, 'warn'],
  ['https', checkHttps, HTTPS, 'ok'],
  ['https', checkHttps, { ...OPEN, TLS_CERT_FILE: 'c', TLS_KEY_FILE: 'k' }, 'ok'],
  ['cookie', checkCookie, {}, 'warn'],
  ['cookie', checkCookie, HTTPS, 'ok'],
  ['cookie', checkCookie, { ...HTTPS, SESSION_COOKIE_NAME: 'sid' }, 'warn'],
  ['cookie', checkCookie, { ...HTTPS, SESSION_COOKIE_NAME: '__Host-sid' }, 'ok'],
  ['secrets', checkSecrets, {}, 'ok'],
  ['secrets', checkSecrets, { BOOTSTRAP_API_KEY: 'Zk3vQ8wXr1tYb6nMpL7sD4fG9hJ2kC5v' }, 'warn'],
  ['secrets', checkSecrets, { METRICS_TOKEN: 'a'.repeat(16) }, 'fail'],
  ['secrets', checkSecrets, { DATABASE_URL: MYSQL }, 'ok'],
  ['secrets', checkSecrets, { DATABASE_URL: 'mysql://rollcall@db/rollcall' }, 'fail'],
  ['secrets', checkSecrets, { DATABASE_URL: `mysql://rollcall:${GUESSED}@db/rollcall` }, 'warn'],
  ['secrets', checkSecrets, { DATABASE_URL: 'mysql://rollcall:rollcall-2026-11-22@db/rollcall' }, 'warn'],
  ['database tls', checkDatabaseTls, {}, 'ok'],
  ['database tls', checkDatabaseTls, { DATABASE_URL: MYSQL }, 'fail'],
  ['database tls', checkDatabaseTls, { DATABASE_URL: MYSQL, DATABASE_TLS_CA_FILE: 'ca.pem' }, 'ok'],
  ['database tls', checkDatabaseTls, { DATABASE_URL: MYSQL.replace('db.example.org', 'localhost') }, 'ok'],
  ['database tls', checkDatabaseTls, { DATABASE_URL: MYSQL.replace('db.', 'localhost,db.') }, 'fail'],
  ['proxy', checkProxy, {}, 'ok'],
  ['proxy', checkProxy, HTTPS, 'warn'],
  ['proxy', checkProxy, { ...HTTPS, TRUST_PROXY: '1' }, 'ok'],
  ['proxy', checkProxy, { ...HTTPS, ...OPEN, TRUST_PROXY: '1' }, 'warn'],
  ['proxy', checkProxy, { ...HTTPS, ...OPEN, TRUST_PROXY: '10.0.0.0/8, 192.0.2.1' }, 'ok'],
  ['metrics', checkMetrics, {}, 'warn'],
  ['metrics', checkMetrics, { METRICS_TOKEN: 'Zk3vQ8wXr1tYb6nM' }, 'ok'],
  ['audit', checkAudit, {}, 'warn'],
  ['audit', checkAudit, { AUDIT_RETENTION_DAYS: '30' }, 'warn'],
  ['audit', checkAudit, { AUDIT_RETENTION_DAYS: '365' }, 'ok'],
])('%s %# with %o %j: %s', (_, check, settings, expected) => {
  const findings = check(loadEnv(settings));
  expect(levels(findings)).toBe(expected);
  const { DATABASE_URL: _url, BASE_URL: _base, HOST: _host, TRUST_PROXY: _proxy, ...values } = settings;
  for (const value of [...Object.values(values), GUESSED].filter((text) => text.length > 8))
    expect(JSON.stringify(findings)).not.toContain(value);
});

test('keys are judged by their end, their rights and their use', () => {
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
  const of = (...facts: Partial<StoredKey>[]) =>
    findKeyRisks(
      facts.map((each) => ({ ...key, ...each })),
      now,
    );
  expect(of({}, {})).toMatchObject([
    { level: 'ok', message: '2 usable, all with an expiry date and limited scopes' },
  ]);
  const [endless] = of({ expires: null, name: 'a "b"' });
  expect({ level: endless?.level, message: endless?.message }).toEqual({
    level: 'warn',
    message: '1 of 1 never expire (replace them with --expires): "a \\"b\\"" (7)',
  });
  expect(of({ revoked: now, scopes: null }, { expires: now, scopes: null }, {})).toMatchObject([
    { level: 'ok', message: '1 usable, all with an expiry date and limited scopes' },
  ]);
  expect(of({ scopes: null }, {})).toMatchObject([
    { message: '1 of 2 have all rights of a Webmaster: "hr" (7)' },
  ]);
  const [unused] = of({ created: '2026-08-01 00:00:00.000' });
  expect(unused?.message).toContain('were not used for 90 days');
  expect(of(...Array.from({ length: 7 }, () => ({ scopes: null })))[0]?.message).toMatch(
    /: ("hr" \(7\)(, )?){5} and 2 more$/,
  );
});
