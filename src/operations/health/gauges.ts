import { Inject, Injectable } from '@nestjs/common';
import { Sealer } from '../../audit/sealer.service.js';
import { Metrics, type ReadGauge } from '../../platform/telemetry/metrics.js';
import { type DbTime, toMillis } from '../../platform/common/time.js';
import { DATABASE, type Database } from '../../platform/database/engine/database.js';
import { KeyFuse } from '../../api-keys/fuse/key-fuse.service.js';
import { NOT_READY, Readiness } from './readiness.js';
import { ImportSummary } from '../../import/report/import-summary.service.js';
import { PasswordService } from '../../users/passwords/password.service.js';

/**
 * Registers gauges with values from other features, such as the number of imports that wait for approval. Each value is
 * read when Prometheus requests the metrics.
 */
@Injectable()
export class Gauges {
  constructor(
    metrics: Metrics,
    passwords: PasswordService,
    imports: ImportSummary,
    sealer: Sealer,
    fuse: KeyFuse,
    readiness: Readiness,
    @Inject(DATABASE) database: Database,
  ) {
    const addMax = (name: string, help: string, read: ReadGauge): void => {
      metrics.addGauge(name, help, read, 'max');
    };
    addMax('rollcall_not_ready', '1 if the instance is not ready for this reason, otherwise 0.', async () => {
      const found: readonly string[] = await readiness.findReasons();
      return Object.keys(NOT_READY).map((reason) => ({ reason, value: Number(found.includes(reason)) }));
    });
    metrics.addGauge(
      'rollcall_database_connections_in_use',
      'Database connections in use.',
      () => database.usage.inUse,
    );
    metrics.addGauge(
      'rollcall_database_requests_waiting',
      'Database statements waiting for a connection.',
      () => database.usage.waiting,
    );
    metrics.addGauge(
      'rollcall_password_hashes_waiting',
      'Password hashes waiting for a free CPU core.',
      () => passwords.waiting,
    );
    addMax(
      'rollcall_api_key_fuses_blown',
      'API keys whose fuse has blown within the last hour and was not reset.',
      async () => (await fuse.findBlownKeys()).size,
    );
    addMax(
      'rollcall_imports_parked',
      'Imports waiting for approval.',
      async () => (await imports.countOpenRuns()).needs_approval,
    );
    addMax(
      'rollcall_import_last_completed_timestamp_seconds',
      'Unix time of the last completed import in seconds, 0 if there is none.',
      async () => toSeconds(await imports.findLastCompleted()),
    );
    addMax(
      'rollcall_audit_last_seal_timestamp_seconds',
      'Unix time of the newest audit seal in seconds, 0 if there is none.',
      async () => toSeconds(await sealer.findLastSealTime()),
    );
    addMax(
      'rollcall_import_overdue',
      '1 if no import completed within IMPORT_OVERDUE_HOURS or a part of a data set is overdue, otherwise 0.',
      async () => Number((await imports.readOverdue())?.isOverdue ?? false),
    );
  }
}

const toSeconds = (time: DbTime | null): number => (time === null ? 0 : Math.floor(toMillis(time) / 1000));
