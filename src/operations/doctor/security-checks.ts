import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { readDatabaseUrl } from '../../platform/config/database-url.js';
import type { Env } from '../../platform/config/env.js';
import { sqliteFile } from '../../platform/database/engine/connection-options.js';
import { type Finding, codeOf, fail, ok, warn } from './finding.js';

/** What `doctor --security` finds in the settings and in the rights of files. No message has a value that could be a secret. */

/** When the support of a release line of Node.js ends (https://github.com/nodejs/release). */
const NODE_ENDS: Readonly<Record<number, string>> = {
  22: '2027-04-30',
  24: '2028-04-30',
  26: '2029-04-30',
};
const LONG_TERM = 'a release line with long-term support, such as 24';
const LOOPBACK = /^(127\.|localhost$|::1$)/;
/** Characters; fewer can be guessed where the database answers without pause. */
const MIN_PASSWORD = 16;
/** Different characters of a secret; fewer are a repetition. */
const MIN_VARIETY = 8;
/** Days; an intrusion is often found months later. */
const MIN_AUDIT_DAYS = 90;
const GROUP_AND_OTHERS = 0o077;
const WRITE_OF_OTHERS = 0o022;
const EVERYBODY_MAY_WRITE = 0o002;

/** @param version such as `24.11.0`. @param today as `2026-11-22`. */
export function nodeLifeCheck(version: string, today: string): Finding[] {
  const major = Number(version.split('.')[0]);
  const end = NODE_ENDS[major];
  if (end !== undefined && end < today)
    return fail('node', `version ${version} has had no security fixes since ${end}; install ${LONG_TERM}`);
  if (end !== undefined) return ok('node', `version ${version} gets security fixes until ${end}`);
  if (major % 2 === 0 && major > 22) return ok('node', `version ${version}`); // newer than this table
  return fail('node', `version ${version} has no long-term support; install ${LONG_TERM}`);
}

const isHttps = ({ baseUrl }: Env): boolean => baseUrl.startsWith('https:');
const isLocal = ({ HOST }: Env): boolean => LOOPBACK.test(HOST);

export function httpsCheck(env: Env): Finding[] {
  if (env.TLS_CERT_FILE !== undefined) return ok('https', 'spoken by the service itself');
  if (isHttps(env)) {
    return isLocal(env)
      ? ok('https', 'by a proxy on this machine')
      : warn(
          'https',
          `by a proxy, but HOST=${env.HOST} may be reached without it; bind to the proxy's network`,
        );
  }
  return isLocal(env)
    ? warn('https', 'none: only for clients on this machine; set BASE_URL to the https address of the proxy')
    : fail(
        'https',
        'none: passwords and keys travel in the clear; set up a proxy and BASE_URL, or TLS_CERT_FILE',
      );
}

export function cookieCheck(env: Env): Finding[] {
  const flags = 'HttpOnly, SameSite=Lax';
  if (!isHttps(env)) return warn('cookie', `${flags}, but not Secure, because BASE_URL is not https`);
  return env.sessionCookieName.startsWith('__Host-')
    ? ok('cookie', `${flags}, Secure, bound to the host`)
    : warn(
        'cookie',
        `${flags}, Secure; a name that begins with __Host-, as the default does, binds it to the host`,
      );
}

export function secretChecks(env: Env): Finding[] {
  // Those that can be guessed are refused at the start.
  const bootstrap = (['BOOTSTRAP_API_KEY', 'BOOTSTRAP_WEBMASTER_PASSWORD'] as const).flatMap((name) =>
    env[name] === undefined
      ? []
      : warn('secrets', `${name} is still set; it matters only on an empty database: remove it`),
  );
  const metrics =
    env.METRICS_TOKEN !== undefined && !isVaried(env.METRICS_TOKEN)
      ? fail('secrets', 'METRICS_TOKEN can be guessed; take a random one')
      : [];
  const found = [...bootstrap, ...metrics, ...databasePassword(env)];
  return found.length > 0
    ? found
    : ok('secrets', 'none in the settings that is short, a default or left over');
}

const isVaried = (secret: string): boolean => new Set(secret).size >= MIN_VARIETY;

function databasePassword({ databaseUrl }: Env): Finding[] {
  const url = readDatabaseUrl(databaseUrl);
  if (!url) return [];
  if (url.password === '') return fail('secrets', 'the database asks for no password; give its user one');
  const isWeak =
    url.password.length < MIN_PASSWORD || !isVaried(url.password) || url.password.includes(url.user);
  return isWeak
    ? warn('secrets', `the password of the database can be guessed; take ${MIN_PASSWORD} random characters`)
    : [];
}

export function databaseTlsCheck({ databaseUrl, DATABASE_TLS_CA_FILE }: Env): Finding[] {
  const url = readDatabaseUrl(databaseUrl);
  if (!url) return ok('database tls', 'not needed: the database is a file');
  if (DATABASE_TLS_CA_FILE !== undefined) return ok('database tls', 'to servers that the file certifies');
  return url.hosts.every(({ host }) => LOOPBACK.test(host))
    ? ok('database tls', 'none: the database is on this machine')
    : fail('database tls', 'none: users and password hashes travel in the clear; set DATABASE_TLS_CA_FILE');
}

export function proxyCheck(env: Env): Finding[] {
  const behindProxy = isHttps(env) && env.TLS_CERT_FILE === undefined;
  if (env.TRUST_PROXY === undefined) {
    return behindProxy
      ? warn(
          'proxy',
          "all clients have the proxy's address in throttle and audit; set TRUST_PROXY to its address",
        )
      : ok('proxy', 'none is trusted');
  }
  const byAddress = env.TRUST_PROXY.split(',').every((part) => isIP(part.trim().split('/')[0] ?? '') !== 0);
  if (byAddress || isLocal(env))
    return ok('proxy', 'trusted by its address, or reachable on this machine only');
  return warn(
    'proxy',
    'a client that gets past the proxy may claim any address; set TRUST_PROXY to its address',
  );
}

export const metricsCheck = ({ METRICS_TOKEN }: Env): Finding[] =>
  METRICS_TOKEN === undefined
    ? warn('metrics', 'anybody who reaches the service may read them; set METRICS_TOKEN')
    : ok('metrics', 'need a token');

export function auditCheck({ AUDIT_RETENTION_DAYS: days }: Env): Finding[] {
  if (days === undefined)
    return warn('audit', 'kept for ever; decide for how long, and set AUDIT_RETENTION_DAYS');
  return days < MIN_AUDIT_DAYS
    ? warn('audit', `kept for ${days} days; an intrusion may be found after more than ${MIN_AUDIT_DAYS}`)
    : ok('audit', `kept for ${days} days`);
}

/** The files that hold secrets or people may be read and changed by their owner alone. */
export async function fileChecks(env: Env): Promise<Finding[]> {
  const database = sqliteFile(env);
  const files = [
    ['data folder', env.DATA_DIR, '700'],
    ...(database === undefined
      ? []
      : ['', '-wal', '-shm'].map((end) => ['database file', database + end, '600'])),
    ['.env', '.env', '600'],
    ...(env.TLS_KEY_FILE === undefined ? [] : [['tls key', env.TLS_KEY_FILE, '600']]),
  ] as const;
  const findings = await Promise.all(
    files.map(([subject = '', path = '', mode = '']) => privacy(subject, path, mode)),
  );
  return findings.flat();
}

async function privacy(subject: string, path: string, mode: string): Promise<Finding[]> {
  if (!existsSync(path)) return [];
  const { mode: rights } = await stat(path);
  const others = rights & GROUP_AND_OTHERS;
  return others === 0
    ? ok(subject, `${path} is open to its owner only`)
    : fail(subject, `${path} has the rights ${octal(rights)}, others may open it: chmod ${mode} ${path}`);
}

/** Who may put files into the drop folder, and touch those that are being imported. */
export async function dropFolderCheck({ IMPORT_FOLDER, IMPORT_WORK_FOLDER }: Env): Promise<Finding[]> {
  if (IMPORT_FOLDER === undefined) return ok('drop folder', 'none');
  try {
    const { mode } = await stat(IMPORT_FOLDER);
    if ((mode & EVERYBODY_MAY_WRITE) !== 0)
      return fail(
        'drop folder',
        `everybody on this machine may write to ${IMPORT_FOLDER}: chmod o-w ${IMPORT_FOLDER}`,
      );
    if (IMPORT_WORK_FOLDER === undefined || resolve(IMPORT_WORK_FOLDER) === resolve(IMPORT_FOLDER)) {
      return (mode & WRITE_OF_OTHERS) === 0
        ? ok('drop folder', 'only its owner writes to it')
        : warn('drop folder', 'its group may change files that are being imported; set IMPORT_WORK_FOLDER');
    }
    const work = existsSync(IMPORT_WORK_FOLDER) ? (await stat(IMPORT_WORK_FOLDER)).mode : 0;
    return (work & WRITE_OF_OTHERS) === 0
      ? ok('drop folder', 'files that are being imported are out of the reach of others')
      : fail('drop folder', `others may write to ${IMPORT_WORK_FOLDER}: chmod go-w ${IMPORT_WORK_FOLDER}`);
  } catch (error) {
    return fail('drop folder', `cannot be looked at (${codeOf(error)})`);
  }
}

const octal = (mode: number): string => (mode & 0o777).toString(8).padStart(3, '0');
