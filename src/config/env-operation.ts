import { IsInt, IsOptional, Length, Matches, Max, Min } from 'class-validator';
import { ImportSettings } from './env-import.js';
import { Count, Integer, OneOnSqlite } from './setting-kinds.js';

/** The settings of operation: processes, transport, limits, what is kept and what is told. */
export class OperationSettings extends ImportSettings {
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

  /** Requests of one API key, or without one of one address, in a minute before further ones are refused; unset: any number. */
  @IsOptional()
  @Count()
  RATE_LIMIT_PER_MINUTE?: number;

  /** Seconds after SIGTERM in which `/health/ready` says 503 and everything else goes on, so that a balancer can turn away. */
  @Integer()
  @IsInt()
  @Min(0)
  @Max(300)
  SHUTDOWN_DELAY_SECONDS: number = 0;

  /** Bearer token that `/metrics` asks for; unset: whoever reaches the service may read them. */
  @IsOptional()
  @Matches(/^[\x21-\x7e]{16,128}$/, {
    message: 'METRICS_TOKEN must be 16 to 128 printable ASCII characters',
  })
  METRICS_TOKEN?: string;

  /** Audit rows are kept for so many days; unset: for ever. */
  @IsOptional()
  @Count()
  AUDIT_RETENTION_DAYS?: number;
}
