import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { parseDatabaseUrl } from '../../platform/config/database-url.js';
import type { Env } from '../../platform/config/env.js';
import { sqliteFileOf } from '../../platform/database/engine/connection-options.js';
import { type Finding, codeOf, fail, ok, warn } from './finding.js';

/** Maps release lines of Node.js to the end of their support (https://github.com/nodejs/release). */
const NODE_SUPPORT_ENDS: Record<number, string> = { 22: '2027-04-30', 24: '2028-04-30', 26: '2029-04-30' };
const LONG_TERM = 'a release line with long-term support, such as 24';
const LOOPBACK = /^(127\.|localhost$|::1$)/;
/** Minimum length of the database password, because a database may not limit failed logins. */
const MIN_PASSWORD = 16;
/** Minimum number of different characters in a secret. */
const MIN_VARIETY = 8;
/** Minimum retention of the audit, in days, because intrusions are often discovered months later. */
const MIN_AUDIT_DAYS = 90;
const GROUP_AND_OTHERS = 0o077;
const GROUP_OR_OTHERS_WRITE = 0o022;
const OTHERS_WRITE = 0o002;

/** Checks that Node.js still receives security fixes. @param version such as `24.11.0`. @param today such as `2026-11-22`. */
export function checkNodeSupport(version: string, today: string): Finding[] {
  const major = Number(version.split('.')[0]);
  const end = NODE_SUPPORT_ENDS[major];
  if (end !== undefined && end < today)
    return fail('node', `version ${version} has had no security fixes since ${end}. Install ${LONG_TERM}`);
  if (end !== undefined) return ok('node', `version ${version} receives security fixes until ${end}`);
  // This is a newer release line, which `NODE_SUPPORT_ENDS` does not list yet.
  if (major % 2 === 0 && major > 22) return ok('node', `version ${version}`);
  return fail('node', `version ${version} has no long-term support. Install ${LONG_TERM}`);
}

export function checkHttps(env: Env): Finding[] {
  if (env.TLS_CERT_FILE !== undefined) return ok('https', 'provided by the service itself');
  if (env.isHttps && env.isLocal) return ok('https', 'provided by a proxy on this machine');
  if (env.isHttps) {
    const fault = `provided by a proxy, but clients may bypass it through HOST=${env.HOST}`;
    return warn('https', `${fault}. Set HOST to an address in the network of the proxy`);
  }
  if (env.isLocal)
    return warn('https', 'not used: safe only on this machine. Set BASE_URL to the https address of a proxy');
  const fault = 'not used: passwords and API keys are sent unencrypted';
  return fail('https', `${fault}. Set TLS_CERT_FILE, or use a proxy and set BASE_URL`);
}

export function checkCookie(env: Env): Finding[] {
  const flags = 'HttpOnly, SameSite=Lax';
  if (!env.isHttps) return warn('cookie', `${flags}, but not Secure, because BASE_URL is not https`);
  if (env.sessionCookieName.startsWith('__Host-')) return ok('cookie', `${flags}, Secure, bound to the host`);
  const remedy = 'To bind the cookie to the host, use a name that starts with __Host-, such as the default';
  return warn('cookie', `${flags}, Secure. ${remedy}`);
}

export function checkSecrets(env: Env): Finding[] {
  // Bootstrap secrets that are easy to guess are rejected when the service starts, so they are not checked here.
  const bootstrap = (['BOOTSTRAP_API_KEY', 'BOOTSTRAP_WEBMASTER_PASSWORD'] as const).flatMap((name) =>
    env[name] === undefined
      ? []
      : warn('secrets', `${name} is still set, but used only for an empty database. Remove it`),
  );
  const { METRICS_TOKEN } = env;
  const isWeak = METRICS_TOKEN !== undefined && !hasEnoughVariety(METRICS_TOKEN);
  const metrics = isWeak ? fail('secrets', 'METRICS_TOKEN can be guessed. Use a random token') : [];
  const found = [...bootstrap, ...metrics, ...checkDatabasePassword(env)];
  return found.length > 0 ? found : ok('secrets', 'no short or unused secrets in the settings');
}

const hasEnoughVariety = (secret: string): boolean => new Set(secret).size >= MIN_VARIETY;

function checkDatabasePassword({ databaseUrl }: Env): Finding[] {
  const { password, user } = parseDatabaseUrl(databaseUrl) ?? {};
  if (password === undefined || user === undefined) return [];
  if (password === '') return fail('secrets', 'the database user has no password. Set a password');
  if (password.length >= MIN_PASSWORD && hasEnoughVariety(password) && !password.includes(user)) return [];
  const message = `the database password can be guessed. Use ${MIN_PASSWORD} or more random characters`;
  return warn('secrets', message);
}

export function checkDatabaseTls({ databaseUrl, DATABASE_TLS_CA_FILE }: Env): Finding[] {
  const url = parseDatabaseUrl(databaseUrl);
  if (!url) return ok('database tls', 'not needed: the database is a file');
  if (DATABASE_TLS_CA_FILE !== undefined) return ok('database tls', 'required, with verified certificates');
  return url.hosts.every(({ host }) => LOOPBACK.test(host))
    ? ok('database tls', 'not used: the database is on this machine')
    : fail('database tls', 'not used: all data is sent unencrypted. Set DATABASE_TLS_CA_FILE');
}

export function checkProxy(env: Env): Finding[] {
  const behindProxy = env.isHttps && env.TLS_CERT_FILE === undefined;
  if (env.TRUST_PROXY === undefined && !behindProxy) return ok('proxy', 'no proxy is trusted');
  if (env.TRUST_PROXY === undefined) {
    const fault = 'the login throttle and the audit see the address of the proxy for all clients';
    return warn('proxy', `${fault}. Set TRUST_PROXY to this address`);
  }
  const byAddress = env.TRUST_PROXY.split(',').every((part) => isIP(part.trim().split('/')[0] ?? '') !== 0);
  if (byAddress || env.isLocal) return ok('proxy', 'trusted by address, or reachable only on this machine');
  const fault = 'clients that bypass the proxy can forge their address';
  return warn('proxy', `${fault}. Set TRUST_PROXY to the address of the proxy`);
}

export const checkMetrics = ({ METRICS_TOKEN }: Env): Finding[] =>
  METRICS_TOKEN === undefined
    ? warn('metrics', 'anyone who can reach the service can read the metrics. Set METRICS_TOKEN')
    : ok('metrics', 'protected by METRICS_TOKEN');

export function checkAudit({ AUDIT_RETENTION_DAYS: days }: Env): Finding[] {
  if (days === undefined) return warn('audit', 'events are retained forever. Set AUDIT_RETENTION_DAYS');
  return days < MIN_AUDIT_DAYS
    ? warn('audit', `events are retained for only ${days} days. Use at least ${MIN_AUDIT_DAYS} days`)
    : ok('audit', `events are retained for ${days} days`);
}

/** Checks that only the owner can access files with secrets or personal data. */
export async function checkFiles(env: Env): Promise<Finding[]> {
  const database = sqliteFileOf(env);
  const databaseFiles = database === undefined ? [] : ['', '-wal', '-shm'].map((end) => database + end);
  const findings = await Promise.all([
    checkMode('data folder', env.DATA_DIR, '700'),
    ...databaseFiles.map((file) => checkMode('database file', file, '600')),
    checkMode('.env', '.env', '600'),
    ...(env.TLS_KEY_FILE === undefined ? [] : [checkMode('tls key', env.TLS_KEY_FILE, '600')]),
  ]);
  return findings.flat();
}

async function checkMode(subject: string, path: string, mode: string): Promise<Finding[]> {
  if (!existsSync(path)) return [];
  const { mode: rights } = await stat(path);
  const others = rights & GROUP_AND_OTHERS;
  return others === 0
    ? ok(subject, `only the owner can access ${path}`)
    : fail(subject, `other users can access ${path} (mode ${formatMode(rights)}). Run chmod ${mode} ${path}`);
}

/** Checks the permissions of the drop folder: who can add files, and who can change files during their import. */
export async function checkDropFolder({ IMPORT_FOLDER, IMPORT_WORK_FOLDER }: Env): Promise<Finding[]> {
  if (IMPORT_FOLDER === undefined) return ok('drop folder', 'not configured');
  try {
    const { mode } = await stat(IMPORT_FOLDER);
    if ((mode & OTHERS_WRITE) !== 0)
      return fail(
        'drop folder',
        `all local users can write to ${IMPORT_FOLDER}. Run chmod o-w ${IMPORT_FOLDER}`,
      );
    if (IMPORT_WORK_FOLDER === undefined || resolve(IMPORT_WORK_FOLDER) === resolve(IMPORT_FOLDER)) {
      return (mode & GROUP_OR_OTHERS_WRITE) === 0
        ? ok('drop folder', `only the owner can write to ${IMPORT_FOLDER}`)
        : warn('drop folder', "the folder's group can change files during imports. Set IMPORT_WORK_FOLDER");
    }
    const work = existsSync(IMPORT_WORK_FOLDER) ? (await stat(IMPORT_WORK_FOLDER)).mode : 0;
    return (work & GROUP_OR_OTHERS_WRITE) === 0
      ? ok('drop folder', 'other users cannot change files during their import')
      : fail(
          'drop folder',
          `other users can write to ${IMPORT_WORK_FOLDER}. Run chmod go-w ${IMPORT_WORK_FOLDER}`,
        );
  } catch (error) {
    return fail('drop folder', `cannot be checked (${codeOf(error)})`);
  }
}

const formatMode = (mode: number): string => (mode & 0o777).toString(8).padStart(3, '0');
