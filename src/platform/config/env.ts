import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../common/errors.js';
import { passwordFault } from '../common/secret-rules.js';
import { normalForm } from '../common/text.js';
import { SETTINGS, type SettingValues } from './setting-table.js';

/** Username of the Webmaster of an empty database. */
export const FIRST_WEBMASTER = 'admin';

/** Browsers refuse these prefixes without HTTPS (RFC 6265bis), in any case. */
const SECURE_PREFIX = /^__(?:Host|Secure|Http|Host-Http)-/i;

/** Settings of older versions, with the settings that replace them. */
const RETIRED: Readonly<Record<string, string>> = {
  IMPORT_MAX_COLUMN: 'IMPORT_MAX_CHANGED, IMPORT_MAX_CHANGED_LOGINS and IMPORT_MAX_EMPTIED',
  IMPORT_MAX_COLUMN_PERCENT:
    'IMPORT_MAX_CHANGED_PERCENT, IMPORT_MAX_CHANGED_LOGINS_PERCENT and IMPORT_MAX_EMPTIED_PERCENT',
};

/** Holds a value for every setting, at first its default. */
class Values {
  constructor() {
    for (const [name, { fallback }] of Object.entries(SETTINGS)) this.set(name, fallback);
  }

  set(name: string, value: unknown): void {
    Object.assign(this, { [name]: value });
  }
}

/** The settings of this process, and what follows from them. */
export class Env extends (Values as new () => Values & SettingValues) {
  /** `TRUST_PROXY` as Express takes it. */
  get trustProxy(): number | string | false {
    if (this.TRUST_PROXY === undefined) return false;
    return /^\d+$/.test(this.TRUST_PROXY) ? Number(this.TRUST_PROXY) : this.TRUST_PROXY;
  }

  get baseUrl(): string {
    const host = this.HOST.includes(':') ? `[${this.HOST}]` : this.HOST;
    const scheme = this.TLS_CERT_FILE === undefined ? 'http' : 'https';
    return (this.BASE_URL ?? `${scheme}://${host}:${this.PORT}`).replace(/\/+$/, '');
  }

  get isHttps(): boolean {
    return this.baseUrl.startsWith('https:');
  }

  /** With the prefix, browsers take the cookie from this host over HTTPS only, so that no other host can plant one. */
  get sessionCookieName(): string {
    return this.SESSION_COOKIE_NAME ?? (this.isHttps ? '__Host-rollcall_session' : 'rollcall_session');
  }

  get databaseUrl(): string {
    return this.DATABASE_URL ?? `sqlite:${join(this.DATA_DIR, 'rollcall.sqlite')}`;
  }
}

/** An invalid setting. The message names variable and rule, never the value, which may be a secret. */
export class EnvError extends Error {}

/**
 * Reads the settings from environment variables. An empty variable counts as unset. The value of a secret may be in a file
 * instead, which `NAME_FILE` names.
 * @throws EnvError naming every invalid variable.
 */
export function loadEnv(variables: NodeJS.ProcessEnv = process.env): Env {
  assertValid(
    Object.entries(RETIRED).flatMap(([name, others]) =>
      variables[name] ? `${name} is retired: set ${others} instead` : [],
    ),
  );
  const env = new Env();
  const faults: string[] = [];
  for (const [name, { read, isSecret }] of Object.entries(SETTINGS)) {
    const text = (isSecret && textOfFile(name, variables, faults)) || variables[name];
    if (!text) continue;
    const { value, broken } = read(text);
    if (value !== undefined) env.set(name, value);
    faults.push(...broken.map((error) => error.replace('$property', name)));
  }
  assertValid([...faults, ...faultsTogether(env)]);
  return env;
}

/** The content of the file that `NAME_FILE` names, without its last newline. */
function textOfFile(name: string, variables: NodeJS.ProcessEnv, faults: string[]): string | undefined {
  const twin = `${name}_FILE`;
  const file = variables[twin];
  if (!file) return undefined;
  if (variables[name]) faults.push(`${twin} must not be set together with ${name}`);
  try {
    const text = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
    if (text === '') faults.push(`${twin} must name a file that is not empty`);
    return text;
  } catch (error) {
    faults.push(`${twin} must name a file that can be read (${errorCode(error) ?? 'error'})`);
    return undefined;
  }
}

/** Rules about several settings. */
function faultsTogether(env: Env): string[] {
  const { BOOTSTRAP_WEBMASTER_PASSWORD: password, PASSWORD_MIN_LENGTH: minLength } = env;
  const rules = { minLength, known: [FIRST_WEBMASTER] };
  const fault = password === undefined ? undefined : passwordFault(normalForm(password, 'NFC'), rules);
  return [
    ...(fault ? [`BOOTSTRAP_WEBMASTER_PASSWORD must be a good password: it ${fault.message}`] : []),
    ...(SECURE_PREFIX.test(env.SESSION_COOKIE_NAME ?? '') && !env.isHttps
      ? [
          'SESSION_COOKIE_NAME must not begin with __Host- or __Secure- unless BASE_URL is https: browsers drop such a cookie',
        ]
      : []),
    ...(env.WORKERS !== 1 && env.databaseUrl.startsWith('sqlite:')
      ? [
          'WORKERS must be 1 on SQLite, which has one writer; more of them need MariaDB or MySQL (DATABASE_URL)',
        ]
      : []),
  ];
}

function assertValid(faults: readonly string[]): void {
  if (faults.length === 0) return;
  throw new EnvError(['The settings are not valid:', ...faults.map((fault) => `- ${fault}`)].join('\n'));
}
