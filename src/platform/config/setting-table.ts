import { length, isURL } from 'class-validator';
import { MIN_PASSWORD_MIN_LENGTH, isGuessableKey } from '../common/secret-rules.js';
import { Cron } from 'croner';
import { parseDatabaseUrl } from './database-url.js';

interface ParsedSetting<Value> {
  /** Undefined for text that cannot be parsed. */
  value: Value | undefined;
  /** Error texts. The placeholder `$property` stands for the name of the setting. */
  errors: readonly string[];
}

/** The type of a setting: parses and validates its text. */
interface SettingType<Value> {
  parse: (text: string) => ParsedSetting<Value>;
  /** Range of valid numbers, for the documentation. */
  range?: string;
}

type Rule<Value> = readonly [isValid: (value: Value) => boolean, error: string];

/** Creates a setting type. A text that cannot be parsed gets the error texts of all rules. */
function createType<Value>(
  parse: (text: string) => Value | undefined,
  rules: readonly Rule<Value>[],
): Omit<SettingType<Value>, 'range'> {
  return {
    parse: (text) => {
      const value = parse(text);
      const broken = rules.filter(([isValid]) => value === undefined || !isValid(value));
      return { value, errors: broken.map(([, error]) => error) };
    },
  };
}

/** Creates a text type with a custom rule. @param test returns false or throws for invalid text. */
function createCustomTextType(rule: string, test: (text: string) => boolean): SettingType<string> {
  const isValid = (text: string): boolean => {
    try {
      return test(text);
    } catch {
      return false;
    }
  };
  return createType((text) => text, [[isValid, `$property must ${rule}`]]);
}

const createTextType = (max: number): SettingType<string> =>
  createCustomTextType(`have at most ${max} characters`, (value) => length(value, 0, max));

const createPatternType = (pattern: RegExp, rule: string): SettingType<string> =>
  createCustomTextType(rule, (value) => pattern.test(value));

const createPathType = createTextType(4096);

const createUrlType = (options: Parameters<typeof isURL>[1] = {}): SettingType<string> =>
  createCustomTextType('be a valid URL', (value) =>
    isURL(value, { require_tld: false, require_protocol: true, protocols: ['http', 'https'], ...options }),
  );

const createEnumType = <Value extends string>(...values: Value[]): SettingType<Value> =>
  createType(
    (text) => values.find((value) => value === text),
    [[() => true, `$property must be one of ${values.join(', ')}`]],
  );

const createBooleanType: SettingType<boolean> = createType(
  (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
  [[() => true, '$property must be true or false']],
);

function createNumberType(pattern: RegExp, rule: string, min: number, max: number): SettingType<number> {
  const limits: Rule<number>[] = [
    [(value) => value >= min, `$property must be at least ${min}`],
    [(value) => value <= max, `$property must be at most ${max}`],
  ];
  return {
    ...createType(
      (text) => (pattern.test(text) ? Number(text) : undefined),
      [[() => true, `$property must be ${rule}`], ...limits.slice(0, max === Infinity ? 1 : 2)],
    ),
    range: max === Infinity ? `${min} or more` : `${min} to ${max}`,
  };
}

const createIntegerType = (min: number, max = Infinity): SettingType<number> =>
  createNumberType(/^\d{1,9}$/, 'an integer', min, max);

const createDecimalType = (min: number, max: number): SettingType<number> =>
  createNumberType(/^\d{1,6}(\.\d{1,3})?$/, 'a number with at most three decimals', min, max);

const createCountType = createIntegerType(1);
const createRowsType = createIntegerType(0, 1_000_000);
const createPercentType = createIntegerType(0, 100);

const createListType = (
  rule: string,
  isValidItem: (item: string) => boolean,
): SettingType<readonly string[]> =>
  createType(
    (text) => text.split(',').flatMap((item) => item.trim() || []),
    [[(items) => items.every(isValidItem), `$property must ${rule}`]],
  );

const createDatabaseUrlType = createCustomTextType(
  'be sqlite:<file> or mysql://user:password@host:port/database, percent-encoded, with hosts separated by commas',
  (text) => /^sqlite:.+/.test(text) || parseDatabaseUrl(text) !== undefined,
);

const createCronType = createCustomTextType(
  'be a cron expression of five fields',
  (text) => text.trim().split(/\s+/).length === 5 && new Cron(text, { paused: true }).nextRun() !== null,
);

const createTimeZoneType = createCustomTextType(
  'be an IANA time zone such as Europe/London',
  (text) => new Intl.DateTimeFormat('en', { timeZone: text }).format() !== '',
);

const createChosenKeyType = createCustomTextType(
  'be 32 to 128 printable ASCII characters that are hard to guess (no repetitions, sequences or words)',
  (text) => /^[\x21-\x7e]{32,128}$/.test(text) && !isGuessableKey(text),
);

export interface Setting<Value> extends SettingType<Value> {
  /** Undefined for a setting without a default. */
  defaultValue: Value;
  /** True if `NAME_FILE` may contain the path of a file with the value. */
  isSecret?: boolean;
}

function defineSetting<Value>(type: SettingType<Value>, defaultValue: Value): Setting<Value> {
  return { ...type, defaultValue };
}

const defineOptional = <Value>(type: SettingType<Value>) => defineSetting<Value | undefined>(type, undefined);

const markSecret = <Value>(described: Setting<Value>): Setting<Value> => ({ ...described, isSecret: true });
const defineSecret = <Value>(type: SettingType<Value>) => markSecret(defineOptional(type));

const PROXIES = '[0-9a-fA-F.:/]+|loopback|linklocal|uniquelocal';
const TRUSTED = new RegExp(`^(\\d{1,2}|${PROXIES})(,\\s*(${PROXIES}))*$`);
const BEARER_TOKEN = /^[\x21-\x7e]{16,128}$/;
const SEAL_KEY = /^[\x21-\x7e]{32,128}$/;
const SEAL_KEYS = createListType('be keys of 32 to 128 printable ASCII characters', (key) =>
  SEAL_KEY.test(key),
);
const SIGNING_KEY = /^whsec_(?:[A-Za-z0-9+/]{4}){8,21}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const COOKIE_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/;

/**
 * All settings with their type and default. Validation, TypeScript types, `.env.example` and the table in docs/deployment.md
 * are derived from this table. The comments below are the texts in these documents.
 */
export const SETTINGS = {
  /** Address to listen on. */
  HOST: defineSetting(createTextType(255), '127.0.0.1'),
  /** Port to listen on. 0 selects a free port. */
  PORT: defineSetting(createIntegerType(0, 65535), 3000),
  /**
   * URL at which clients reach the service (http or https). Only pages of this origin may use a session. Unset:
   * `http://HOST:PORT`, and if other machines can reach HOST, pages at every address of the service may use a session.
   */
  BASE_URL: defineOptional(createUrlType()),
  /** Folder for everything that the service writes to disk. */
  DATA_DIR: defineSetting(createPathType, './data'),

  /**
   * Database: `sqlite:<file>` or `mysql://user:password@host:port/database`, percent-encoded. With several hosts
   * (`host1:port,host2:port`), the service uses the first host that accepts writes. Unset:
   * `sqlite:<DATA_DIR>/rollcall.sqlite`.
   */
  DATABASE_URL: defineSecret(createDatabaseUrlType),
  /** File with trusted CA certificates (PEM) for TLS connections to MariaDB or MySQL. Unset: no TLS. */
  DATABASE_TLS_CA_FILE: defineOptional(createPathType),
  /** Connections of each instance to MariaDB or MySQL. The total is WORKERS times this number. SQLite uses one connection. */
  DATABASE_POOL_SIZE: defineSetting(createIntegerType(1, 500), 32),
  /** Run pending migrations at start: true, false or auto (true only on SQLite). */
  MIGRATE_ON_START: defineSetting(createEnumType('auto', 'true', 'false'), 'auto'),

  /** Number of processes that answer requests (instances). Each uses one CPU core. More than one requires MariaDB or MySQL. */
  WORKERS: defineSetting(createIntegerType(1, 64), 1),
  /** File with the certificate chain (PEM) for built-in HTTPS. Unset: HTTP. */
  TLS_CERT_FILE: defineOptional(createPathType),
  /** File with the private key (PEM) of the certificate in TLS_CERT_FILE. */
  TLS_KEY_FILE: defineOptional(createPathType),
  /**
   * Trusted proxies that set X-Forwarded-For: their number, or a comma-separated list of addresses, CIDR networks or
   * names such as loopback. Unset: no proxy is trusted.
   */
  TRUST_PROXY: defineOptional(
    createPatternType(TRUSTED, 'be a number of proxies or comma-separated addresses'),
  ),
  /** Serve the operators' console at /console. Opening the base URL in a browser redirects to it. */
  CONSOLE_ENABLED: defineSetting(createBooleanType, true),
  /**
   * Seconds after SIGTERM during which /health/ready returns 503 and everything else works, so that a load balancer can
   * react.
   */
  SHUTDOWN_DELAY_SECONDS: defineSetting(createIntegerType(0, 300), 0),

  /**
   * First API key, created in an empty database: 32 to 128 printable ASCII characters that are hard to guess. Unset: a
   * random key, printed once.
   */
  BOOTSTRAP_API_KEY: defineSecret(createChosenKeyType),
  /**
   * Password of the first Webmaster "admin", which must meet the rules for all passwords. Unset: a random password,
   * printed once.
   */
  BOOTSTRAP_WEBMASTER_PASSWORD: defineSecret(createCustomTextType('be text', () => true)),
  /** Minimum length of new passwords, in characters. Existing passwords stay valid. */
  PASSWORD_MIN_LENGTH: defineSetting(createIntegerType(MIN_PASSWORD_MIN_LENGTH, 64), 12),
  /**
   * Name of the session cookie. Unset: `__Host-rollcall_session` if BASE_URL is https, otherwise `rollcall_session`.
   */
  SESSION_COOKIE_NAME: defineOptional(createPatternType(COOKIE_NAME, 'be a cookie name (RFC 6265)')),
  /** Minutes without a request after which a session ends. */
  SESSION_IDLE_MINUTES: defineSetting(createCountType, 120),
  /** Minutes after login at which a session ends, even if it is in use. */
  SESSION_ABSOLUTE_MINUTES: defineSetting(createCountType, 720),
  /** Failed logins of one user from one address that are allowed within 15 minutes. Further attempts are rejected. */
  LOGIN_FAILURES_PER_NAME: defineSetting(createCountType, 5),
  /**
   * Failed logins of one user that are allowed within an hour, from all addresses together. Further attempts are
   * rejected. Attempts with a device cookie are counted separately, with the same limit.
   */
  LOGIN_FAILURES_PER_USER: defineSetting(createCountType, 50),
  /**
   * Failed logins from one address that are allowed within an hour. Further attempts with the user names that failed
   * are rejected, and attempts with other user names are delayed.
   */
  LOGIN_FAILURES_PER_IP: defineSetting(createCountType, 50),
  /** Maximum number of password hashes that wait for a CPU core. Further requests get 503. */
  HASH_QUEUE_LIMIT: defineSetting(createCountType, 100),

  /** Seconds within which the body of a JSON request must arrive. */
  REQUEST_TIMEOUT_SECONDS: defineSetting(createIntegerType(1, 300), 30),
  /**
   * Maximum open connections of one instance. Further connections are closed without a response. An idle connection
   * uses 2 KiB, and a connection with incomplete headers uses up to 20 KiB.
   */
  MAX_CONNECTIONS: defineSetting(createIntegerType(10, 100_000), 10_000),
  /** Seconds after which a search is stopped with 422 `search_too_broad`. */
  SEARCH_TIMEOUT: defineSetting(createDecimalType(0.05, 10), 2),
  /** Maximum number of users that a SCIM filter may examine one by one if no index covers the whole filter. */
  SCIM_SCAN_LIMIT: defineSetting(createIntegerType(1000, 100_000), 10_000),
  /**
   * Requests per minute allowed for one API key or user. Also the limit for logins and invalid credentials from one
   * address. Unset: no limit.
   */
  RATE_LIMIT_PER_MINUTE: defineOptional(createCountType),
  /** Requests per minute allowed for one user, over all sessions. 0: no limit. */
  SESSION_RATE_LIMIT_PER_MINUTE: defineSetting(createIntegerType(0), 600),
  /**
   * Number of users that one API key may block or delete within an hour before its fuse blows (429 `fuse_blown`). 0: no
   * fuse.
   */
  FUSE_MIN: defineSetting(createRowsType, 50),
  /** FUSE_MIN as a percentage of the active users. The higher of the two limits applies. */
  FUSE_PERCENT: defineSetting(createPercentType, 10),

  /** Require a top-level domain in email addresses. false also accepts addresses such as `user@intranet`. */
  EMAIL_REQUIRE_TLD: defineSetting(createBooleanType, true),
  /** Additional role names, comma-separated. */
  EXTRA_ROLES: defineSetting(
    createListType('be role names of 1 to 64 characters, separated by commas', (role) => length(role, 1, 64)),
    [],
  ),
  /** Days for which a deleted user can be restored. After that, the user's data is removed. */
  SCIM_DELETED_DAYS: defineSetting(createCountType, 30),

  /**
   * Limits of the guards, which stop an import that looks like an accident: `strict`, `normal` or `relaxed`. Profiles and
   * IMPORT_GUARD_<guard>_<limit> override single limits (docs/imports.md).
   */
  IMPORT_GUARDS: defineSetting(createEnumType('strict', 'normal', 'relaxed'), 'normal'),
  /** Drop folder for scheduled imports. Unset: no scheduled imports. */
  IMPORT_FOLDER: defineOptional(createPathType),
  /**
   * Folder for processing/, done/ and failed/, on the same file system as IMPORT_FOLDER. The account that delivers the
   * files should not have write access to it. Unset: IMPORT_FOLDER.
   */
  IMPORT_WORK_FOLDER: defineOptional(createPathType),
  /** Names of the files to import. `*` and `?` are wildcards. */
  IMPORT_PATTERN: defineSetting(createTextType(255), '*.csv'),
  /** Times at which the drop folder is checked, as a cron expression: minute, hour, day of month, month, day of week. */
  IMPORT_CRON: defineSetting(createCronType, '0 2 * * *'),
  /** Time zone of IMPORT_CRON (IANA). */
  IMPORT_TIME_ZONE: defineSetting(createTimeZoneType, 'UTC'),
  /** Options of scheduled imports, in the format of the query of POST /imports, such as `mode=upsert&missing=report`. */
  IMPORT_OPTIONS: defineSetting(createTextType(1000), ''),
  /** Hours without a completed import after which /status reports that imports are overdue. Unset: never. */
  IMPORT_OVERDUE_HOURS: defineOptional(createCountType),
  /** Require a second person: the user or API key that uploaded a file cannot approve its import if a guard tripped. */
  IMPORT_FOUR_EYES: defineSetting(createBooleanType, false),
  /** Days for which finished imports and their rows are stored, and for which a plan can wait for a decision. */
  IMPORT_RETENTION_DAYS: defineSetting(createCountType, 90),

  /**
   * Program that is started without arguments for each alert, such as an import that waits for approval, and receives
   * the alert as JSON on standard input. Unset: no program.
   */
  NOTIFY_COMMAND: defineOptional(createPathType),
  /** URL that receives each alert as a POST request, signed with NOTIFY_SECRET. Unset: no requests. */
  NOTIFY_URL: defineOptional(createUrlType({ disallow_auth: true })),
  /** Key that signs alerts: whsec_ followed by 24 to 64 bytes in Base64, for example from `openssl rand -base64 32`. */
  NOTIFY_SECRET: defineSecret(
    createPatternType(SIGNING_KEY, 'be whsec_ followed by 24 to 64 bytes in Base64'),
  ),
  /** Bearer token that /metrics requires. Unset: no token required. */
  METRICS_TOKEN: defineSecret(createPatternType(BEARER_TOKEN, 'be 16 to 128 printable ASCII characters')),
  /** Days for which audit events are stored. Unset: forever. */
  AUDIT_RETENTION_DAYS: defineOptional(createCountType),
  /**
   * Secret keys for audit seals, comma-separated, each with 32 to 128 characters. New seals use the first key, and
   * verification uses all keys. Empty: no key.
   */
  AUDIT_SEAL_KEY: markSecret(defineSetting(SEAL_KEYS, [])),
  /** Lowest level of logged events: fatal, error, warn, info, debug or trace. silent turns the log off. */
  LOG_LEVEL: defineSetting(
    createEnumType('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    'info',
  ),
};

export type SettingValues = {
  [Name in keyof typeof SETTINGS]: (typeof SETTINGS)[Name]['defaultValue'];
};
