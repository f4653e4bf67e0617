import { length } from 'class-validator';
import { SHORTEST_MIN_LENGTH } from '../common/secret-rules.js';
import {
  type Kind,
  checkedText,
  chosenKey,
  count,
  cron,
  databaseUrl,
  decimal,
  flag,
  integer,
  list,
  matching,
  oneOf,
  path,
  percent,
  rows,
  text,
  timeZone,
  url,
} from './setting-kinds.js';

/** One setting: an environment variable. */
export interface Setting<Value> extends Kind<Value> {
  /** Undefined for a setting without a default. */
  fallback: Value;
  /** Marks a setting that `NAME_FILE` may name the file of. */
  isSecret?: boolean;
}

const setting = <Value>(kind: Kind<Value>, fallback: Value): Setting<Value> => ({ ...kind, fallback });

const optional = <Value>(kind: Kind<Value>): Setting<Value | undefined> => ({ ...kind, fallback: undefined });

const secret = <Value>(described: Setting<Value>): Setting<Value> => ({ ...described, isSecret: true });

const PROXIES = '[0-9a-fA-F.:/]+|loopback|linklocal|uniquelocal';
const TRUSTED = new RegExp(`^(\\d{1,2}|${PROXIES})(,\\s*(${PROXIES}))*$`);
const BEARER_TOKEN = /^[\x21-\x7e]{16,128}$/;
const SEAL_KEY = /^[\x21-\x7e]{32,128}$/;
const SIGNING_KEY = /^whsec_(?:[A-Za-z0-9+/]{4}){8,21}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const COOKIE_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/;

/**
 * Every setting with its kind and default. Its text is its comment. The checks, the types, `.env.example` and the table in
 * docs/deployment.md derive from this table.
 */
export const SETTINGS = {
  /** Address to listen on. */
  HOST: setting(text(255), '127.0.0.1'),
  /** Port to listen on. 0 takes a free one. */
  PORT: setting(integer(0, 65535), 3000),
  /**
   * Address that clients use to reach the service (http or https). Only its pages may use a session. Unset:
   * `http://HOST:PORT`.
   */
  BASE_URL: optional(url()),
  /** Folder for everything that the service writes to disk. */
  DATA_DIR: setting(path, './data'),

  /**
   * `sqlite:<file>` or `mysql://user:password@host:port/database`, percent-encoded. Of several hosts
   * (`host1:port,host2:port`) the first that accepts writes serves. Unset: `sqlite:<DATA_DIR>/rollcall.sqlite`.
   */
  DATABASE_URL: secret(optional(databaseUrl)),
  /** File of trusted certificates (PEM) for TLS to the MariaDB/MySQL server. Unset: no TLS. */
  DATABASE_TLS_CA_FILE: optional(path),
  /** Connections of each worker to MariaDB/MySQL, so WORKERS times as many in all. SQLite uses one. */
  DATABASE_POOL_SIZE: setting(integer(1, 500), 32),
  /** Run pending migrations at start: auto (on SQLite only), true or false. */
  MIGRATE_ON_START: setting(oneOf('auto', 'true', 'false'), 'auto'),

  /** Processes that serve, one core each. More than one needs MariaDB or MySQL. */
  WORKERS: setting(integer(1, 64), 1),
  /** Certificate chain (PEM) for built-in HTTPS. Unset: HTTP. */
  TLS_CERT_FILE: optional(path),
  /** Private key (PEM) of TLS_CERT_FILE. */
  TLS_KEY_FILE: optional(path),
  /**
   * Trusted proxies that set X-Forwarded-For: their number, or their addresses (CIDR, loopback), separated by
   * commas. Unset: none.
   */
  TRUST_PROXY: optional(matching(TRUSTED, 'be a number of proxies or a list of addresses')),
  /** Compress responses for clients that accept gzip. false where a proxy in front of the service does that. */
  COMPRESSION: setting(flag, true),
  /** Serve the console for operators at /console, to which the service's own address redirects a browser. */
  CONSOLE_ENABLED: setting(flag, true),
  /**
   * Seconds after SIGTERM in which /health/ready is 503 and everything else works, so that a balancer can react.
   */
  SHUTDOWN_DELAY_SECONDS: setting(integer(0, 300), 0),

  /**
   * First API key of an empty database: 32 to 128 printable characters, hard to guess. Unset: random, and printed
   * once.
   */
  BOOTSTRAP_API_KEY: secret(optional(chosenKey)),
  /**
   * Password of the first Webmaster "admin", by the rules of all passwords. Unset: random, and printed once.
   */
  BOOTSTRAP_WEBMASTER_PASSWORD: secret(optional(checkedText('be text', () => true))),
  /** Characters that a new password must have at least. Existing passwords stay valid. */
  PASSWORD_MIN_LENGTH: setting(integer(SHORTEST_MIN_LENGTH, 64), 12),
  /**
   * Name of the session cookie. Unset: `__Host-rollcall_session` where BASE_URL is https, else `rollcall_session`.
   */
  SESSION_COOKIE_NAME: optional(matching(COOKIE_NAME, 'be a cookie name (RFC 6265)')),
  /** A session without a request ends after this many minutes. */
  SESSION_IDLE_MINUTES: setting(count, 120),
  /** A session ends this many minutes after login, used or not. */
  SESSION_ABSOLUTE_MINUTES: setting(count, 720),
  /** Failed logins of one user from one address in 15 minutes before more are refused. */
  LOGIN_FAILURES_PER_NAME: setting(count, 5),
  /**
   * Failed logins of one user from everywhere in an hour before more are refused from addresses that are new to
   * the user.
   */
  LOGIN_FAILURES_PER_USER: setting(count, 50),
  /**
   * Failed logins from one address in an hour before more are refused for names that failed there, and others are
   * delayed.
   */
  LOGIN_FAILURES_PER_IP: setting(count, 50),
  /** Password hashes that may wait for a free core before requests are answered with 503. */
  HASH_QUEUE_LIMIT: setting(count, 100),

  /** Seconds in which a request with a JSON body must arrive. */
  REQUEST_TIMEOUT_SECONDS: setting(integer(1, 300), 30),
  /**
   * Open connections of one worker. Another one is closed at once, without a response. A connection that sends
   * nothing takes 2 KiB, and one that sends half of its headers up to 20 KiB.
   */
  MAX_CONNECTIONS: setting(integer(10, 100_000), 10_000),
  /** Seconds after which a broad search is stopped and answered with 422 `search_too_broad`. */
  SEARCH_TIMEOUT: setting(decimal(0.05, 10), 2),
  /** Users that a SCIM filter may examine one by one where no index answers all of it. */
  SCIM_SCAN_LIMIT: setting(integer(1000, 100_000), 10_000),
  /**
   * Requests per minute of one API key or user, and logins and refused credentials of one address, before more are
   * refused. Unset: no limit.
   */
  RATE_LIMIT_PER_MINUTE: optional(count),
  /** Requests per minute of one user, over all sessions, before more are refused. 0: no limit. */
  SESSION_RATE_LIMIT_PER_MINUTE: setting(integer(0), 600),
  /**
   * Users that one API key may block or delete within an hour before its fuse blows (429 `fuse_blown`). 0: no fuse.
   */
  FUSE_MIN: setting(rows, 50),
  /** The same as a share of the active users, where that is more. */
  FUSE_PERCENT: setting(percent, 10),

  /** false accepts e-mail addresses without a top-level domain, such as `user@intranet`. */
  EMAIL_REQUIRE_TLD: setting(flag, true),
  /** Additional role names, separated by commas. */
  EXTRA_ROLES: setting(
    list(
      'each value in $property must be longer than or equal to 1 and shorter than or equal to 64 characters',
      (role) => length(role, 1, 64),
    ),
    [],
  ),
  /** Days for which a deleted user can be restored. Then the user is forgotten. */
  SCIM_DELETED_DAYS: setting(count, 30),

  /**
   * An import that would do more than the limits from here to IMPORT_SMALL_DATASET_ROWS allow waits for approval
   * (docs/imports.md). Users that one import may block.
   */
  IMPORT_MAX_DEACTIVATIONS: setting(rows, 5),
  /** The same as a share of the active users in its scope, where that is more. */
  IMPORT_MAX_DEACTIVATIONS_PERCENT: setting(percent, 10),
  /** At most this many, whatever the share is. */
  IMPORT_MAX_DEACTIVATIONS_TOTAL: setting(rows, 200),
  /** Users that one import may reactivate. */
  IMPORT_MAX_REACTIVATIONS: setting(rows, 5),
  /** The same as a share of the active users in its scope, where that is more. */
  IMPORT_MAX_REACTIVATIONS_PERCENT: setting(percent, 10),
  /** At most this many, whatever the share is. */
  IMPORT_MAX_REACTIVATIONS_TOTAL: setting(rows, 200),
  /**
   * The unapproved imports of a data set may block or reactivate this many times the limit of one import within
   * seven days.
   */
  IMPORT_WEEK_FACTOR: setting(integer(1, 100), 2),
  /** Users whose value in one column may be replaced by another. */
  IMPORT_MAX_CHANGED: setting(rows, 4),
  /** The same as a share of the matched users, where that is more. */
  IMPORT_MAX_CHANGED_PERCENT: setting(percent, 20),
  /** The same for usernames, e-mail addresses, authnames and roles: they decide on logins and rights. */
  IMPORT_MAX_CHANGED_LOGINS: setting(rows, 2),
  /** The same as a share of the matched users, where that is more. */
  IMPORT_MAX_CHANGED_LOGINS_PERCENT: setting(percent, 10),
  /** Users whose value in one column may be emptied. */
  IMPORT_MAX_EMPTIED: setting(rows, 4),
  /** The same as a share of the matched users, where that is more. */
  IMPORT_MAX_EMPTIED_PERCENT: setting(percent, 10),
  /** Rows that may take a username, e-mail, authname or phone which another row gives up. */
  IMPORT_MAX_MOVED: setting(rows, 3),
  /** The same as a share of the matched users, where that is more. */
  IMPORT_MAX_MOVED_PERCENT: setting(percent, 2),
  /** Users who may get one and the same value in a column that had more than ten values. */
  IMPORT_MAX_SAME: setting(rows, 9),
  /** The same as a share of the matched users, where that is more. In names: of the new users. */
  IMPORT_MAX_SAME_PERCENT: setting(percent, 50),
  /** Values that may lose their accents, or be encoded twice. */
  IMPORT_MAX_GARBLED: setting(rows, 3),
  /** The same as a share of the rows, where that is more. */
  IMPORT_MAX_GARBLED_PERCENT: setting(percent, 1),
  /** New external ids, with as many lost ones, above which the key column counts as changed. */
  IMPORT_MAX_NEW_KEYS: setting(rows, 5),
  /** The same as a share of the linked users, where that is more. */
  IMPORT_MAX_NEW_KEYS_PERCENT: setting(percent, 20),
  /** With missing=block: minimum size in percent of the rows of the data set's last completed import. */
  IMPORT_MIN_SIZE_PERCENT: setting(percent, 80),
  /** Users that the last import changed and that the next one may change back. */
  IMPORT_MAX_UNDONE: setting(rows, 4),
  /** The same as a share of what the last import changed, where that is more. */
  IMPORT_MAX_UNDONE_PERCENT: setting(percent, 50),
  /** Users that a file may change which was imported before, where another file has been imported since. */
  IMPORT_MAX_OLD_FILE: setting(rows, 0),
  /** Matched users that may belong to another data set. */
  IMPORT_MAX_FOREIGN: setting(rows, 4),
  /** The same as a share of the matched users, where that is more. */
  IMPORT_MAX_FOREIGN_PERCENT: setting(percent, 10),
  /** Rows that may fail. Rows that failed in the same way in the last import do not count. */
  IMPORT_MAX_ERRORS: setting(rows, 4),
  /** The same as a share of the rows, where that is more. */
  IMPORT_MAX_ERRORS_PERCENT: setting(percent, 10),
  /** Users for whom an import may repeat a change that a revert has undone. */
  IMPORT_MAX_REPEATED: setting(rows, 0),
  /** Below this many users in scope, IMPORT_SMALL_DATASET_ROWS replaces larger fixed limits. 0: never. */
  IMPORT_SMALL_DATASET: setting(rows, 50),
  /**
   * Users of a small data set that may be blocked or moved or get new ids. For changed and emptied values it is
   * one less.
   */
  IMPORT_SMALL_DATASET_ROWS: setting(integer(1, 1000), 3),

  /** Drop folder of scheduled imports. Unset: no schedule. */
  IMPORT_FOLDER: optional(path),
  /**
   * Folder for processing/, done/ and failed/, on the same file system, best where the deliverer cannot write.
   * Unset: IMPORT_FOLDER.
   */
  IMPORT_WORK_FOLDER: optional(path),
  /** Names of the files to take. `*` and `?` are wildcards. */
  IMPORT_PATTERN: setting(text(255), '*.csv'),
  /** When the schedule checks the folder: minute, hour, day of month, month, day of week. */
  IMPORT_CRON: setting(cron, '0 2 * * *'),
  /** Time zone of IMPORT_CRON (IANA). */
  IMPORT_TIME_ZONE: setting(timeZone, 'UTC'),
  /** Options of scheduled imports, as in the query of POST /imports, such as `mode=upsert&missing=report`. */
  IMPORT_OPTIONS: setting(text(1000), ''),
  /** After so many hours without a completed import, /status reports that imports are overdue. Unset: never. */
  IMPORT_OVERDUE_HOURS: optional(count),
  /** true: a user or key that sent a file may not approve it where a guard was hit. */
  IMPORT_FOUR_EYES: setting(flag, false),
  /** Days for which finished imports and their rows are kept, and for which a plan waits for a decision. */
  IMPORT_RETENTION_DAYS: setting(count, 90),

  /**
   * Program, without arguments, that is started for each alert (such as a parked import) and reads it as JSON.
   * Unset: none.
   */
  NOTIFY_COMMAND: optional(path),
  /** Address to which each alert is sent with one POST, signed with NOTIFY_SECRET. Unset: none. */
  NOTIFY_URL: optional(url({ disallow_auth: true })),
  /** Key of that signature: whsec_ and 24 to 64 bytes in Base64, such as from `openssl rand -base64 32`. */
  NOTIFY_SECRET: secret(optional(matching(SIGNING_KEY, 'be whsec_ and 24 to 64 bytes in Base64'))),
  /** Bearer token that /metrics requires. Unset: none. */
  METRICS_TOKEN: secret(optional(matching(BEARER_TOKEN, 'be 16 to 128 printable ASCII characters'))),
  /** Days for which audit rows are kept. Unset: for ever. */
  AUDIT_RETENTION_DAYS: optional(count),
  /**
   * Secret keys of 32 to 128 characters for the seals of the audit, separated by commas: the first one seals, all
   * of them verify. Empty: no key.
   */
  AUDIT_SEAL_KEY: secret(
    setting(
      list('$property must be keys of 32 to 128 printable ASCII characters', (key) => SEAL_KEY.test(key)),
      [],
    ),
  ),
  /** fatal, error, warn, info, debug, trace or silent. */
  LOG_LEVEL: setting(oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'), 'info'),
  /**
   * json: a JSON line for each event, for programs. pretty: for people. Unset: pretty on a terminal, else json.
   */
  LOG_FORMAT: optional(oneOf('pretty', 'json')),
};

/** The values of all settings. */
export type SettingValues = {
  [Name in keyof typeof SETTINGS]: (typeof SETTINGS)[Name]['fallback'];
};
