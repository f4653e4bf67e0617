import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCodeOf } from '../common/errors.js';
import { findNearest } from '../common/nearest.js';
import { findPasswordFault } from '../common/secret-rules.js';
import { toNormalForm } from '../common/text.js';
import { SETTINGS, type SettingValues } from './setting-table.js';

/** User name of the first Webmaster, created in an empty database. */
export const FIRST_WEBMASTER = 'admin';

/** Maps the addresses that select all interfaces to an address that clients on this machine can open. */
const LOOPBACK_OF: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '[::]': '[::1]' };

/** Prefixes of cookie names that browsers accept only over HTTPS (RFC 6265bis). */
const SECURE_PREFIX = /^__(?:Host|Secure|Http|Host-Http)-/i;

/** Limits of import guards, current and removed ones. The importer knows and checks their names. */
const GUARD_LIMIT = /^IMPORT_(GUARD_|MAX_|MIN_SIZE|WEEK_FACTOR|SMALL_DATASET)/;

/** Names of all settings, with the `_FILE` twins of secrets. */
const NAMES = Object.entries(SETTINGS).flatMap(([name, { isSecret }]) =>
  isSecret ? [name, `${name}_FILE`] : name,
);
/** Variables in a settings file that other parts of the process read: Node.js, OpenSSL, the C library and proxies. */
const FOREIGN =
  /^(NODE_\w+|TZ|LANG|LC_\w+|SSL_CERT_(FILE|DIR)|OPENSSL_CONF|(HTTPS?|NO)_PROXY|(https?|no)_proxy|UV_THREADPOOL_SIZE|MALLOC_ARENA_MAX)$/;
/** Shorter names in the environment are ignored, because platforms inject variables with similar names. */
const MIN_SUSPICIOUS_LENGTH = 8;

class MutableSettings {
  constructor() {
    for (const [name, { defaultValue }] of Object.entries(SETTINGS)) this.set(name, defaultValue);
  }

  set(name: string, value: unknown): void {
    Object.assign(this, { [name]: value });
  }
}

/** The settings of this process, with values derived from them. */
export class Env extends (MutableSettings as new () => MutableSettings & SettingValues) {
  /** Texts of the variables that set limits of import guards, such as `IMPORT_GUARD_ERRORS_ROWS`. */
  readonly guardLimits = new Map<string, string>();

  /** Value of `TRUST_PROXY` for Express's setting `trust proxy`. */
  get trustProxy(): number | string | false {
    if (this.TRUST_PROXY === undefined) return false;
    return /^\d+$/.test(this.TRUST_PROXY) ? Number(this.TRUST_PROXY) : this.TRUST_PROXY;
  }

  get baseUrl(): string {
    const host = this.HOST.includes(':') ? `[${this.HOST}]` : this.HOST;
    const scheme = this.TLS_CERT_FILE === undefined ? 'http' : 'https';
    return (this.BASE_URL ?? `${scheme}://${LOOPBACK_OF[host] ?? host}:${this.PORT}`).replace(/\/+$/, '');
  }

  /** True if only this machine can reach the service directly. */
  get isLocal(): boolean {
    return /^(127\.|localhost$|::1$)/.test(this.HOST);
  }

  get isHttps(): boolean {
    return this.baseUrl.startsWith('https:');
  }

  /**
   * Name of the session cookie. With the prefix `__Host-`, browsers reject the cookie if another host sets it, or if it is
   * set without HTTPS.
   */
  get sessionCookieName(): string {
    return this.SESSION_COOKIE_NAME ?? (this.isHttps ? '__Host-rollcall_session' : 'rollcall_session');
  }

  get databaseUrl(): string {
    return this.DATABASE_URL ?? `sqlite:${join(this.DATA_DIR, 'rollcall.sqlite')}`;
  }
}

/** Thrown for invalid settings. The message never contains values, because they may be secret. */
export class EnvError extends Error {}

/**
 * Reads the settings from environment variables. An empty variable counts as unset. A secret may be in a file whose
 * path is in `NAME_FILE`.
 * @param fileNames names in the settings file. Each name must be a setting, or a variable of Node.js or a library.
 * @throws EnvError that lists every invalid variable.
 */
export function loadEnv(variables: NodeJS.ProcessEnv = process.env, fileNames: readonly string[] = []): Env {
  const env = new Env();
  const faults = describeUnknownNames(
    fileNames.filter((name) => !FOREIGN.test(name) && !GUARD_LIMIT.test(name)),
  );
  for (const [name, { parse, isSecret }] of Object.entries(SETTINGS)) {
    const text = (isSecret && readSecretFile(name, variables, faults)) || variables[name];
    if (!text) continue;
    const { value, errors } = parse(text);
    if (value !== undefined) env.set(name, value);
    faults.push(...errors.map((error) => error.replace('$property', name)));
  }
  for (const [name, text] of Object.entries(variables))
    if (text && GUARD_LIMIT.test(name)) env.guardLimits.set(name, text);
  throwIfInvalid([...faults, ...findCrossSettingErrors(env)]);
  return env;
}

/** Returns a warning for each environment variable that is probably a misspelt setting. */
export const findMisspeltVariables = (variables: NodeJS.ProcessEnv = process.env): string[] =>
  describeUnknownNames(
    Object.keys(variables).filter((name) => name.length >= MIN_SUSPICIOUS_LENGTH),
    1,
  );

/**
 * Returns a text for each name that is an unknown setting, with the most similar setting.
 * @param max maximum number of edits. Names that are not this near to a setting are omitted.
 */
function describeUnknownNames(names: readonly string[], max?: number): string[] {
  return names.flatMap((name) => {
    const nearest = findNearest(name, NAMES, max);
    if (NAMES.includes(name) || (max !== undefined && nearest === undefined)) return [];
    return `${name} is an unknown setting${nearest === undefined ? '' : `. The most similar setting is ${nearest}`}`;
  });
}

/** Reads a secret from the file whose path is in `NAME_FILE`. Removes the last newline. Appends errors to `faults`. */
function readSecretFile(name: string, variables: NodeJS.ProcessEnv, faults: string[]): string | undefined {
  const twin = `${name}_FILE`;
  const file = variables[twin];
  if (!file) return undefined;
  if (variables[name]) faults.push(`${twin} must not be set together with ${name}`);
  try {
    const text = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
    if (text === '') faults.push(`${twin} must name a file that is not empty`);
    return text;
  } catch (error) {
    faults.push(`${twin} must name a file that can be read (${errorCodeOf(error) ?? 'error'})`);
    return undefined;
  }
}

function findCrossSettingErrors(env: Env): string[] {
  const { BOOTSTRAP_WEBMASTER_PASSWORD: password, PASSWORD_MIN_LENGTH: minLength } = env;
  const rules = { minLength, known: [FIRST_WEBMASTER] };
  const fault = password === undefined ? undefined : findPasswordFault(toNormalForm(password, 'NFC'), rules);
  const errors: string[] = [];
  if (fault) errors.push(`BOOTSTRAP_WEBMASTER_PASSWORD must be a good password: it ${fault.message}`);
  if (SECURE_PREFIX.test(env.SESSION_COOKIE_NAME ?? '') && !env.isHttps)
    errors.push(
      'SESSION_COOKIE_NAME must not begin with __Host- or __Secure- unless BASE_URL is https. Browsers reject such a cookie',
    );
  if (env.WORKERS !== 1 && env.databaseUrl.startsWith('sqlite:'))
    errors.push('WORKERS must be 1 on SQLite. For more, set DATABASE_URL to MariaDB or MySQL');
  return errors;
}

/** @throws EnvError that lists the faults, if there are any. */
export function throwIfInvalid(faults: readonly string[]): void {
  if (faults.length === 0) return;
  throw new EnvError(['Invalid settings:', ...faults.map((fault) => `- ${fault}`)].join('\n'));
}
