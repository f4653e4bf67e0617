import { plainToInstance } from 'class-transformer';
import {
  IsBoolean,
  IsIn,
  IsInt,
  IsOptional,
  IsUrl,
  Length,
  Matches,
  Max,
  Min,
  ValidateBy,
  validateSync,
} from 'class-validator';
import { join } from 'node:path';
import { fieldsOf } from '../common/fields.js';
import { RETIRED } from './import-guard-settings.js';
import { OperationSettings } from './operation-settings.js';
import { SHORTEST_MIN_LENGTH } from '../common/secret-rules.js';
import {
  ChosenKey,
  ChosenPassword,
  Count,
  Flag,
  Integer,
  List,
  PrefixNeedsHttps,
  isDatabaseUrl,
} from './setting-kinds.js';

const LOG_FORMATS = ['pretty', 'json'] as const;

/** Username of the Webmaster of an empty database. */
export const FIRST_WEBMASTER = 'admin';

/**
 * The settings: an environment variable each, with its default and its rule. `.env.example` lists the same
 * names with the same defaults, which a test compares.
 */
export class Env extends OperationSettings {
  /** Address to listen on. */
  @Length(1, 255)
  HOST: string = '127.0.0.1';

  /** Port to listen on; 0 takes a free one. */
  @Integer()
  @IsInt()
  @Min(0)
  @Max(65535)
  PORT: number = 3000;

  /** Address under which clients reach the service; default `http://HOST:PORT`. */
  @IsOptional()
  @IsUrl({ require_tld: false, require_protocol: true, protocols: ['http', 'https'] })
  BASE_URL?: string;

  /** Folder for everything that the service writes on disk. */
  @Length(1, 4096)
  DATA_DIR: string = './data';

  /**
   * `sqlite:<file>` or `mysql://user:password@host:port/database`; default `sqlite:<DATA_DIR>/rollcall.sqlite`. Of several
   * hosts (`host1:port,host2:port`) the first serves that takes writes.
   */
  @IsOptional()
  @ValidateBy({
    name: 'databaseUrl',
    validator: {
      validate: isDatabaseUrl,
      defaultMessage: () =>
        'DATABASE_URL must be sqlite:<file> or mysql://user:password@host:port/database, percent-encoded; ' +
        'several hosts are separated by commas',
    },
  })
  DATABASE_URL?: string;

  /** Certificates (PEM) of the authorities that may sign the MariaDB/MySQL server's: with it the connection is TLS; unset: plain. */
  @IsOptional()
  @Length(1, 4096)
  DATABASE_TLS_CA_FILE?: string;

  /** Connections to MariaDB/MySQL of one worker, so `WORKERS` times as many in all (SQLite uses one). */
  @Integer()
  @IsInt()
  @Min(1)
  @Max(500)
  DATABASE_POOL_SIZE: number = 32;

  /** Run pending migrations at start: `auto` does so on SQLite only. */
  @IsIn(['auto', 'true', 'false'])
  MIGRATE_ON_START: 'auto' | 'true' | 'false' = 'auto';

  /** First API key, made on an empty database; at random and printed once when unset. */
  @IsOptional()
  @ChosenKey()
  BOOTSTRAP_API_KEY?: string;

  /** Password of the first Webmaster `admin`; at random and printed once when unset. */
  @IsOptional()
  @ChosenPassword([FIRST_WEBMASTER], (settings) =>
    settings instanceof Env ? settings.PASSWORD_MIN_LENGTH : 0,
  )
  BOOTSTRAP_WEBMASTER_PASSWORD?: string;

  /** Characters of a new password; existing ones stay good. NIST SP 800-63B and the ASVS ask for 8 and 12. */
  @Integer()
  @IsInt()
  @Min(SHORTEST_MIN_LENGTH)
  @Max(64)
  PASSWORD_MIN_LENGTH: number = 12;

  /**
   * The proxies whose `X-Forwarded-For` is trusted: their number, or their addresses (CIDR, `loopback`),
   * separated by commas. Unset: none.
   */
  @IsOptional()
  @Matches(
    /^(\d{1,2}|[0-9a-fA-F.:/]+|loopback|linklocal|uniquelocal)(,\s*([0-9a-fA-F.:/]+|loopback|linklocal|uniquelocal))*$/,
    {
      message: 'TRUST_PROXY must be a number of proxies or a list of addresses',
    },
  )
  TRUST_PROXY?: string;

  /** Name of the session cookie; default `__Host-rollcall_session` where `BASE_URL` is https, else `rollcall_session`. */
  @IsOptional()
  @Matches(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/, {
    message: 'SESSION_COOKIE_NAME must be a cookie name (RFC 6265)',
  })
  @PrefixNeedsHttps((settings) => settings instanceof Env && settings.isHttps)
  SESSION_COOKIE_NAME?: string;

  /** A session without a request ends after this many minutes. */
  @Count()
  SESSION_IDLE_MINUTES: number = 120;

  /** A session ends this many minutes after login, even in use. */
  @Count()
  SESSION_ABSOLUTE_MINUTES: number = 720;

  /** Failed logins of one user from one address in 15 minutes before further ones are refused. */
  @Count()
  LOGIN_FAILURES_PER_NAME: number = 5;

  /** Failed logins of one user from everywhere in an hour before those from addresses new to the user are refused. */
  @Count()
  LOGIN_FAILURES_PER_USER: number = 50;

  /** Failed logins from one address in an hour before names that failed there are refused, and new ones are delayed. */
  @Count()
  LOGIN_FAILURES_PER_IP: number = 50;

  /** Password hashes that may wait for a free core before requests are answered with 503. */
  @Count()
  HASH_QUEUE_LIMIT: number = 100;

  /** `false` admits addresses such as `user@intranet`. */
  @Flag()
  @IsBoolean()
  EMAIL_REQUIRE_TLD: boolean = true;

  /** Names of further roles, separated by commas. */
  @List()
  @Length(1, 64, { each: true })
  EXTRA_ROLES: string[] = [];

  /** fatal, error, warn, info, debug, trace or silent. */
  @IsIn(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
  LOG_LEVEL: string = 'info';

  /** `json`: a JSON line an event, for programs; `pretty`: for people. Unset: `pretty` on a terminal, else `json`. */
  @IsOptional()
  @IsIn(LOG_FORMATS)
  LOG_FORMAT?: (typeof LOG_FORMATS)[number];

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

/** A setting that breaks its rule. The message names variable and rule, never the value, which may be a secret. */
export class EnvError extends Error {}

/**
 * Reads the settings from environment variables. An empty variable counts as unset.
 * @throws EnvError naming every variable that breaks its rule.
 */
export function loadEnv(variables: NodeJS.ProcessEnv = process.env): Env {
  const set: Record<string, string> = {};
  for (const name of fieldsOf(Env)) {
    const value = variables[name];
    if (value) set[name] = value;
  }
  const retired = [...RETIRED].filter(([name]) => variables[name]);
  if (retired.length > 0) {
    const lines = retired.map(([name, others]) => `- ${name} is retired: set ${others} instead`);
    throw new EnvError(['The settings are not valid:', ...lines].join('\n'));
  }
  const env = plainToInstance(Env, set, { exposeDefaultValues: true });
  const errors = validateSync(env);
  if (errors.length === 0) return env;
  const rules = errors.flatMap((error) => Object.values(error.constraints ?? {}));
  throw new EnvError(['The settings are not valid:', ...rules.map((rule) => `- ${rule}`)].join('\n'));
}
