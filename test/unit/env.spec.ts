import { afterAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EnvError, findMisspeltVariables, loadEnv } from '../../src/platform/config/env.js';
import { SETTINGS } from '../../src/platform/config/setting-table.js';

type Variables = Record<string, string>;

/** Returns the error message of a start with these variables, or `''` without an error. */
function errorOf(variables: Variables): string {
  try {
    loadEnv(variables);
    return '';
  } catch (error) {
    if (!(error instanceof EnvError)) throw error;
    return error.message;
  }
}

const RANDOM_KEY = 'w8Kd3_zPq0-Lx7Rt2Vb9Ny4Mh6Jc1Gf5Ts';
const read = (variables: Variables, name: keyof typeof SETTINGS): unknown => loadEnv(variables)[name];

test.each<[keyof typeof SETTINGS, string, unknown]>([
  ['HOST', '0.0.0.0', '0.0.0.0'],
  ['PORT', '0', 0],
  ['PORT', '65535', 65535],
  ['BASE_URL', 'https://people.example.org', 'https://people.example.org'],
  ['BASE_URL', 'http://localhost:8080/rollcall', 'http://localhost:8080/rollcall'],
  ['DATABASE_URL', 'sqlite:./a b.sqlite', 'sqlite:./a b.sqlite'],
  ['DATABASE_URL', 'mysql://u:p%40ss@db:3306/rollcall', 'mysql://u:p%40ss@db:3306/rollcall'],
  ['DATABASE_URL', 'mariadb://db/rollcall', 'mariadb://db/rollcall'],
  ['DATABASE_POOL_SIZE', '500', 500],
  ['SEARCH_TIMEOUT', '0.5', 0.5],
  ['SEARCH_TIMEOUT', '10', 10],
  ['MIGRATE_ON_START', 'false', 'false'],
  ['BOOTSTRAP_API_KEY', RANDOM_KEY, RANDOM_KEY],
  ['BOOTSTRAP_API_KEY', RANDOM_KEY.repeat(4).slice(0, 128), RANDOM_KEY.repeat(4).slice(0, 128)],
  ['BOOTSTRAP_WEBMASTER_PASSWORD', 'cavort by 9 moons', 'cavort by 9 moons'],
  ['BOOTSTRAP_WEBMASTER_PASSWORD', '😀😁😂😃😄😅😆😇😈😉😊😋', '😀😁😂😃😄😅😆😇😈😉😊😋'],
  ['PASSWORD_MIN_LENGTH', '8', 8],
  ['PASSWORD_MIN_LENGTH', '64', 64],
  ['SESSION_COOKIE_NAME', 'intranet.sid', 'intranet.sid'],
  ['SESSION_ABSOLUTE_MINUTES', '525600', 525600],
  ['EMAIL_REQUIRE_TLD', 'false', false],
  ['EMAIL_REQUIRE_TLD', 'true', true],
  ['EXTRA_ROLES', ' Chef , Night watch,,', ['Chef', 'Night watch']],
  ['IMPORT_GUARDS', 'strict', 'strict'],
  ['IMPORT_CRON', '*/5 6-20 * * MON-FRI', '*/5 6-20 * * MON-FRI'],
  ['IMPORT_TIME_ZONE', 'Europe/London', 'Europe/London'],
  ['LOG_LEVEL', 'silent', 'silent'],
])('the setting %s=%s is accepted', (name, value, setting) => {
  expect(read({ [name]: value }, name)).toEqual(setting);
});

const INTEGERS = ['x9e9', '-1', '1.5', '1e3', '0x10', ' 5 5', '9'.repeat(10), 'NaN', 'Infinity'];
const AT_LEAST_1 = [...INTEGERS, '0'];
const PERCENT = [...INTEGERS, '101'];
const REFUSED: Record<string, string[]> = {
  HOST: ['h'.repeat(256)],
  PORT: [...INTEGERS, '65536'],
  BASE_URL: ['rollcall.example.org', 'ftp://x.example.org', 'javascript:alert(1)', 'http://', 'no url'],
  DATA_DIR: ['d'.repeat(4097)],
  DATABASE_URL: ['postgres://u:hunter2@db/x', 'sqlite:', 'mysql:hunter2', 'mysql://u:hunter#2@db/x'],
  DATABASE_TLS_CA_FILE: ['f'.repeat(4097)],
  DATABASE_POOL_SIZE: [...AT_LEAST_1, '501'],
  MIGRATE_ON_START: ['yes', 'TRUE', '1'],
  BOOTSTRAP_API_KEY: [
    ...[RANDOM_KEY.slice(0, 31), RANDOM_KEY.repeat(4), `${RANDOM_KEY} k`, `${RANDOM_KEY}é`],
    ...['a'.repeat(32), '!~'.repeat(16), 'abcdefghijklmnopqrstuvwxyz012345', '0123456789'.repeat(4)],
  ],
  BOOTSTRAP_WEBMASTER_PASSWORD: [
    ...['hunter2', 'hunter2-xy', `cavort by 9 moons${'p7'.repeat(60)}`, ' '.repeat(12), '123456789012'],
    ...['aaaaaaaaaaaa', 'admin-admin-admin', 'Admin#83057294', 'cavort by\x079 moons'],
  ],
  PASSWORD_MIN_LENGTH: [...INTEGERS, '7', '65'],
  LOGIN_FAILURES_PER_USER: AT_LEAST_1,
  SESSION_COOKIE_NAME: ['__Host-sid', '__host-sid', '__Secure-sid', 'a b', 'a=b', 'a;b', 'é', 'n'.repeat(65)],
  SESSION_IDLE_MINUTES: AT_LEAST_1,
  SESSION_ABSOLUTE_MINUTES: AT_LEAST_1,
  LOGIN_FAILURES_PER_NAME: AT_LEAST_1,
  LOGIN_FAILURES_PER_IP: AT_LEAST_1,
  HASH_QUEUE_LIMIT: AT_LEAST_1,
  EMAIL_REQUIRE_TLD: ['no', '0', 'False'],
  EXTRA_ROLES: ['r'.repeat(65), `Chef,${'r'.repeat(65)}`],
  IMPORT_GUARDS: ['lax', 'STRICT', 'true'],
  IMPORT_FOLDER: ['f'.repeat(4097)],
  IMPORT_WORK_FOLDER: ['f'.repeat(4097)],
  IMPORT_PATTERN: ['p'.repeat(256)],
  IMPORT_CRON: ['* * * *', '* * * * * *', '61 * * * *', 'daily'],
  IMPORT_TIME_ZONE: ['Mars/Olympus', 'UTC+25:00'],
  IMPORT_OPTIONS: ['o'.repeat(1001)],
  IMPORT_OVERDUE_HOURS: AT_LEAST_1,
  IMPORT_RETENTION_DAYS: AT_LEAST_1,
  SCIM_DELETED_DAYS: AT_LEAST_1,
  IMPORT_FOUR_EYES: ['no', '0', 'False'],
  NOTIFY_COMMAND: ['c'.repeat(4097)],
  NOTIFY_URL: ['hook', 'ftp://x.example.org', 'https://u:hunter2@x.example.org/'],
  NOTIFY_SECRET: ['short', 'whsec_short', `whsec_${'a'.repeat(100)}`, 'x'.repeat(50)],
  WORKERS: [...AT_LEAST_1, '65'],
  TLS_CERT_FILE: ['f'.repeat(4097)],
  TLS_KEY_FILE: ['f'.repeat(4097)],
  REQUEST_TIMEOUT_SECONDS: [...AT_LEAST_1, '301'],
  MAX_CONNECTIONS: [...AT_LEAST_1, '9', '100001'],
  SEARCH_TIMEOUT: ['0', '0.01', '10.5', '-1', 'x', '1e1', '2 s', '1.0001'],
  SCIM_SCAN_LIMIT: [...AT_LEAST_1, '999', '100001'],
  RATE_LIMIT_PER_MINUTE: AT_LEAST_1,
  SESSION_RATE_LIMIT_PER_MINUTE: ['-1', 'x', '1.5'],
  CONSOLE_ENABLED: ['no', '0', 'False'],
  FUSE_MIN: ['-1', 'x', '1000001'],
  FUSE_PERCENT: PERCENT,
  SHUTDOWN_DELAY_SECONDS: ['-1', 'x', '301'],
  METRICS_TOKEN: ['t'.repeat(15), 't'.repeat(129), `${'t'.repeat(20)} t`],
  AUDIT_RETENTION_DAYS: AT_LEAST_1,
  AUDIT_SEAL_KEY: ['short', 'x'.repeat(129), `${'k'.repeat(32)},short`, 'ä'.repeat(32)],
  TRUST_PROXY: ['true', 'everybody', 'loopback;10.0.0.1'],
  LOG_LEVEL: ['loud', 'INFO'],
};

describe.each(Object.entries(REFUSED))('the setting %s', (name, values) => {
  test.each(values)('refuses the value %s and names the rule', (value) => {
    const message = errorOf({ [name]: value });
    const [heading, ...rules] = message.split('\n');
    expect(heading).toBe('Invalid settings:');
    expect(rules).not.toHaveLength(0);
    for (const rule of rules) expect(rule).toMatch(new RegExp(`^- .*\\b${name} must .+`));
    // Shorter values occur in rules by chance.
    if (value.length > 8) expect(message).not.toContain(value);
    expect(message).not.toContain('hunter');
  });
});

test('the tests of refused values cover every setting', () => {
  expect(Object.keys(REFUSED).sort()).toEqual(Object.keys(SETTINGS).sort());
});

test.each(['2', '64'])('WORKERS=%s is accepted only with MariaDB or MySQL', (WORKERS) => {
  for (const DATABASE_URL of ['mysql://db/x', 'mariadb://db/x']) {
    expect(loadEnv({ WORKERS, DATABASE_URL }).WORKERS).toBe(Number(WORKERS));
  }
  for (const DATABASE_URL of ['', 'sqlite:./x.sqlite']) {
    expect(errorOf({ WORKERS, DATABASE_URL })).toMatch(/^- WORKERS must be 1 on SQLite.*MariaDB or MySQL/m);
  }
});

test('PASSWORD_MIN_LENGTH also applies to BOOTSTRAP_WEBMASTER_PASSWORD', () => {
  const BOOTSTRAP_WEBMASTER_PASSWORD = 'cavort by 9 moons';
  const message = errorOf({ BOOTSTRAP_WEBMASTER_PASSWORD, PASSWORD_MIN_LENGTH: '20' });
  expect(message).toContain('BOOTSTRAP_WEBMASTER_PASSWORD must be a good password: it must have at least 20');
});

test('an empty environment variable counts as unset', () => {
  expect(loadEnv(Object.fromEntries(Object.keys(REFUSED).map((name) => [name, ''])))).toEqual(loadEnv({}));
});

test('environment variables of other programs are ignored', () => {
  const env = loadEnv({ PATH: '/bin', baseUrl: 'x', constructor: 'x' });
  expect(Object.keys(env)).toEqual(Object.keys(loadEnv({})));
});

describe('an unknown name', () => {
  test.each([
    ['PASSWORD_MIN_LENGHT', 'PASSWORD_MIN_LENGTH'],
    ['PRT', 'PORT'],
    ['METRICS_TOKEN_FIL', 'METRICS_TOKEN_FILE'],
    ['log_level', 'LOG_LEVEL'],
    ['IMPORT_DIRECTORY', undefined],
    ['PATH', undefined],
  ])('%s in the settings file is refused, with the most similar setting', (name, nearest) => {
    const hint = nearest === undefined ? '' : `. The most similar setting is ${nearest}`;
    const message = `Invalid settings:\n- ${name} is an unknown setting${hint}`;
    expect(() => loadEnv({}, ['PORT', name])).toThrow(new EnvError(message));
  });

  test('in the settings file is allowed if Node.js or a library reads it', () => {
    const names = ['NODE_ENV', 'NODE_OPTIONS', 'TZ', 'LANG', 'LC_ALL', 'SSL_CERT_FILE', 'HTTPS_PROXY'];
    const others = ['no_proxy', 'UV_THREADPOOL_SIZE', 'METRICS_TOKEN_FILE'];
    expect(loadEnv({}, [...names, ...others])).toEqual(loadEnv({}));
  });

  test('in the environment causes a warning if it is one edit from the name of a setting', () => {
    const near = ['BASE_URLS', 'ABSE_URL', 'BASE_URK', 'LOG_EVEL', 'METRICS_TOKN_FILE'];
    const known = [...Object.keys(SETTINGS), 'METRICS_TOKEN_FILE'];
    const others = ['BASE_UR', 'PRT', 'HOSTS', 'DATA_DIRECTORY', 'PORT_FILE', ...known];
    const variables = Object.fromEntries([...near, ...others].map((name) => [name, 'x']));
    const warnings = findMisspeltVariables(variables);
    expect(warnings.map((text) => text.split(' ')[0])).toEqual(near);
    expect(warnings.at(-1)).toMatch(
      /^METRICS_TOKN_FILE is an unknown.* similar setting is METRICS_TOKEN_FILE$/,
    );
  });
});

describe('secret settings', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-secrets-'));
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });
  const GOOD: Record<string, string> = {
    DATABASE_URL: 'mysql://u:hunter2@db/x',
    BOOTSTRAP_API_KEY: RANDOM_KEY,
    BOOTSTRAP_WEBMASTER_PASSWORD: 'cavort by 9 moons',
    METRICS_TOKEN: RANDOM_KEY,
    AUDIT_SEAL_KEY: `${RANDOM_KEY},${RANDOM_KEY}2`,
    NOTIFY_SECRET: `whsec_${Buffer.from(RANDOM_KEY).toString('base64')}`,
  };
  const secrets = Object.entries(SETTINGS).flatMap(([name, { isSecret }]) => (isSecret ? name : []));
  /** Writes the content to a file. Returns the `_FILE` variable of the setting with the path. */
  const writeSecret = (name: string, content: string): Variables => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return { [`${name}_FILE`]: path };
  };

  test('are all covered by the tests of _FILE variables', () => {
    expect(secrets.sort()).toEqual(Object.keys(GOOD).sort());
  });

  test.each(secrets)('%s is read from the file of its _FILE variable', (name) => {
    const value = GOOD[name] ?? '';
    const expected = loadEnv({ [name]: value });
    expect(expected).not.toEqual(loadEnv({}));
    for (const content of [value, `${value}\n`, `${value}\r\n`])
      expect(loadEnv(writeSecret(name, content))).toEqual(expected);
  });

  test.each(secrets)('%s is refused together with its _FILE variable', (name) => {
    const message = errorOf({ [name]: GOOD[name] ?? '', ...writeSecret(name, GOOD[name] ?? '') });
    expect(message).toBe(`Invalid settings:\n- ${name}_FILE must not be set together with ${name}`);
  });

  test.each(secrets)('the error for an invalid %s omits the file content', (name) => {
    const content = REFUSED[name]?.at(-1) ?? '';
    const message = errorOf(writeSecret(name, content));
    expect(message).toBe(errorOf({ [name]: content }));
    expect(message).toMatch(new RegExp(`^- ${name} must `, 'm'));
    expect(message).not.toContain(content);
    expect(errorOf(writeSecret(name, '\n'))).toContain(`- ${name}_FILE must name a file that is not empty`);
  });

  test.each(secrets)('a missing or unreadable file for %s is refused', (name) => {
    for (const [path, code] of [
      [join(folder, 'nowhere'), 'ENOENT'],
      [folder, 'EISDIR'],
    ]) {
      const rule = `${name}_FILE must name a file that can be read (${code})`;
      expect(errorOf({ [`${name}_FILE`]: path ?? '' })).toBe(`Invalid settings:\n- ${rule}`);
    }
  });
});

test('only secret settings have a _FILE variable', () => {
  expect(loadEnv({ PORT_FILE: '/nowhere' })).toEqual(loadEnv({}));
});
