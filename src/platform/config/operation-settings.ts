import { IsBoolean, IsInt, IsNumber, IsOptional, IsUrl, Length, Matches, Max, Min } from 'class-validator';
import { ImportGuardSettings } from './import-guard-settings.js';
import {
  Count,
  CronExpression,
  Decimal,
  Flag,
  Integer,
  List,
  OneOnSqlite,
  Percent,
  TimeZone,
} from './setting-kinds.js';

/** The settings of operation: processes, transport, limits, retention, and the schedule of imports. */
export class OperationSettings extends ImportGuardSettings {
  /** Processes that serve, each on a core of its own; more than one needs MariaDB or MySQL. */
  @Integer()
  @IsInt()
  @Min(1)
  @Max(64)
  @OneOnSqlite()
  WORKERS: number = 1;

  /** Certificate chain (PEM) with which the service speaks HTTPS itself; unset: HTTP. */
  @IsOptional()
  @Length(1, 4096)
  TLS_CERT_FILE?: string;

  /** Private key (PEM) of TLS_CERT_FILE. */
  @IsOptional()
  @Length(1, 4096)
  TLS_KEY_FILE?: string;

  /** Seconds in which a request with a JSON body must have arrived. */
  @Integer()
  @IsInt()
  @Min(1)
  @Max(300)
  REQUEST_TIMEOUT_SECONDS: number = 30;

  /**
   * Seconds after which a search is stopped in the database whose cost no key bounds. Above 10 it would hold up others for
   * too long; below 0.05 the limit would refuse every search of a large installation.
   */
  @Decimal()
  @IsNumber()
  @Min(0.05)
  @Max(10)
  SEARCH_TIMEOUT: number = 2;

  /** Users that a SCIM filter without an index for all of its parts may look at; each takes some hundredths of a millisecond. */
  @Integer()
  @IsInt()
  @Min(1000)
  @Max(100_000)
  SCIM_SCAN_LIMIT: number = 10_000;

  /**
   * Open connections of one worker; one more is closed at once, without an answer. One that sends nothing takes 2 KiB, one that
   * sends half of its headers up to 20 KiB.
   */
  @Integer()
  @IsInt()
  @Min(10)
  @Max(100_000)
  MAX_CONNECTIONS: number = 10_000;

  /** Requests of one API key or user, or of one address without a key, per minute before further ones are refused; unset: no limit. */
  @IsOptional()
  @Count()
  RATE_LIMIT_PER_MINUTE?: number;

  /** Users that one API key may block within an hour before its fuse blows; 0 turns the fuse off … */
  @Integer()
  @IsInt()
  @Min(0)
  @Max(1_000_000)
  FUSE_MIN: number = 50;

  /** … or this share of the active users, if that is more. */
  @Percent()
  FUSE_PERCENT: number = 10;

  /**
   * Requests of one user, over all sessions, per minute before further ones are refused; 0: no limit. People and their pages
   * send some dozens; a connector has a key, which this does not limit. A lower RATE_LIMIT_PER_MINUTE holds for users too.
   */
  @Integer()
  @IsInt()
  @Min(0)
  SESSION_RATE_LIMIT_PER_MINUTE: number = 600;

  /** Compress answers for clients that accept gzip; `false` where a proxy in front does it. */
  @Flag()
  @IsBoolean()
  COMPRESSION: boolean = true;

  /** Serve the console for operators at `/console`, to which a browser is led from `/`. */
  @Flag()
  @IsBoolean()
  CONSOLE_ENABLED: boolean = true;

  /** Seconds after SIGTERM in which `/health/ready` says 503 and all other requests are served, so that a balancer can stop sending. */
  @Integer()
  @IsInt()
  @Min(0)
  @Max(300)
  SHUTDOWN_DELAY_SECONDS: number = 0;

  /** Bearer token that `/metrics` asks for; unset: anyone who reaches the service may read them. */
  @IsOptional()
  @Matches(/^[\x21-\x7e]{16,128}$/, {
    message: 'METRICS_TOKEN must be 16 to 128 printable ASCII characters',
  })
  METRICS_TOKEN?: string;

  /** Audit rows are kept for this many days; unset: for ever. */
  @IsOptional()
  @Count()
  AUDIT_RETENTION_DAYS?: number;

  /** Keys, separated by commas: the first one seals the audit, all of them verify it; empty: seals need no secret. */
  @List()
  @Matches(/^[\x21-\x7e]{32,128}$/, {
    each: true,
    message: 'AUDIT_SEAL_KEY must be keys of 32 to 128 printable ASCII characters',
  })
  AUDIT_SEAL_KEY: string[] = [];

  /** Folder for the files of scheduled imports; unset: no schedule. */
  @IsOptional()
  @Length(1, 4096)
  IMPORT_FOLDER?: string;

  /**
   * Folder for `processing/`, `done/` and `failed/`, on the same file system; unset: IMPORT_FOLDER. One that the deliverer
   * cannot write to keeps the files, once taken, out of the deliverer's reach.
   */
  @IsOptional()
  @Length(1, 4096)
  IMPORT_WORK_FOLDER?: string;

  /** Names of the files to take; `*` and `?` are wildcards. */
  @Length(1, 255)
  IMPORT_PATTERN: string = '*.csv';

  /** When the folder is checked: minute, hour, day of month, month, day of week. */
  @CronExpression()
  IMPORT_CRON: string = '0 2 * * *';

  /** Time zone of IMPORT_CRON (IANA). */
  @TimeZone()
  IMPORT_TIME_ZONE: string = 'UTC';

  /** Options of scheduled imports, as in the query of `POST /imports`: `mode=upsert&missing=report`. */
  @Length(0, 1000)
  IMPORT_OPTIONS: string = '';

  /** Without a completed import for this many hours, `/status` says that imports are overdue; unset: never. */
  @IsOptional()
  @Count()
  IMPORT_OVERDUE_HOURS?: number;

  /** Whoever sent a file may not approve it where a guard was hit. */
  @Flag()
  @IsBoolean()
  IMPORT_FOUR_EYES: boolean = false;

  /** Program, without arguments, that is started for each alert (a parked import, overdue imports) and reads it as JSON; unset: none. */
  @IsOptional()
  @Length(1, 4096)
  NOTIFY_COMMAND?: string;

  /** Address to which each alert is sent with one signed POST; unset: none. */
  @IsOptional()
  @IsUrl({ require_tld: false, protocols: ['http', 'https'], require_protocol: true, disallow_auth: true })
  NOTIFY_URL?: string;

  /** Key with which alerts to NOTIFY_URL are signed, as the Standard Webhooks specification writes it. */
  @IsOptional()
  @Matches(/^whsec_(?:[A-Za-z0-9+/]{4}){8,21}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/, {
    message: 'NOTIFY_SECRET must be whsec_ and 24 to 64 bytes in Base64',
  })
  NOTIFY_SECRET?: string;

  /** Finished imports are kept for this many days, with their rows; a plan waits as long for a decision. */
  @Count()
  IMPORT_RETENTION_DAYS: number = 90;

  /** Deleted users can be restored for this many days; then they are forgotten. */
  @Count()
  SCIM_DELETED_DAYS: number = 30;
}
