import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { type DbTime, now, addSeconds, toIso, toIsoOrNull } from '../../platform/common/time.js';
import { Env } from '../../platform/config/env.js';
import { TransactionRunner } from '../../platform/database/transaction-runner.js';
import { createFaultLogger } from '../../platform/http/problem.js';
import { Leases } from '../../platform/database/leases/leases.service.js';
import { Log } from '../../platform/telemetry/log.js';
import { ImportRunsRepository } from '../runs/import-runs.repository.js';
import { ImportSummary } from '../report/import-summary.service.js';
import { type Alert, AlertSender, type AlertType, AlertError } from './alert-sender.service.js';
import { type ImportRun, missingCountsOf } from '../runs/import-run.js';
import { ScheduleService } from '../schedule/schedule.service.js';

const LEASE = 'alerts';
const LEASE_SECONDS = 60;
const REMINDER_SECONDS = 24 * 60 * 60;
const INTERVAL_MILLIS = 5000;
/** Maximum number of alerts about runs that are sent at a time. */
const RUNS_PER_PASS = 20;
/** Pause after the first failed delivery. It doubles with each further failure. */
const FIRST_PAUSE_MILLIS = 10_000;
const LAST_PAUSE_MILLIS = 10 * 60_000;
/**
 * Maximum time that a shutdown waits for the response to an alert. Without a response, the alert is sent again after
 * the restart.
 */
const SHUTDOWN_MILLIS = 2000;

/**
 * Sends alerts to operators (NOTIFY_URL, NOTIFY_COMMAND) about imports that wait for approval, end early or are overdue,
 * and about an unavailable drop folder. Only one instance sends alerts at a time. An alert is recorded only after its
 * delivery, so a crash may repeat an alert but never loses it. A failed alert is sent again.
 */
@Injectable()
export class Alerts implements BeforeApplicationShutdown {
  private readonly stopping = new AbortController();
  private isStopping = false;
  private timer: NodeJS.Timeout | undefined;
  private currentPass: Promise<void> | undefined;
  private failures = 0;
  /** End of the pause after a failed delivery, on the monotonic clock. 0 before the first failure. */
  private pausedUntil = 0;

  constructor(
    private readonly env: Env,
    private readonly sender: AlertSender,
    private readonly runs: ImportRunsRepository,
    private readonly summary: ImportSummary,
    private readonly schedule: ScheduleService,
    private readonly leases: Leases,
    private readonly transactions: TransactionRunner,
    private readonly log: Log,
  ) {}

  start(): void {
    if (!this.sender.isEnabled) return;
    this.timer = setInterval(this.startPass.bind(this), INTERVAL_MILLIS).unref();
    this.startPass();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    clearInterval(this.timer);
    const abort = setTimeout(this.stopping.abort.bind(this.stopping), SHUTDOWN_MILLIS);
    await this.currentPass;
    clearTimeout(abort);
  }

  private startPass(): void {
    if (performance.now() < this.pausedUntil) return;
    this.currentPass ??= this.runPass()
      .catch(createFaultLogger(this.log, LEASE))
      .finally(() => (this.currentPass = undefined));
  }

  private async runPass(): Promise<void> {
    await this.leases.runUnderLease(LEASE, LEASE_SECONDS, async () => {
      const yesterday = addSeconds(now(), -REMINDER_SECONDS);
      for (const run of await this.runs.listWithoutAlert(yesterday, RUNS_PER_PASS)) {
        if (!(await this.deliver(createRunAlert(run, this.urlOf(`imports/${run.id}`))))) return;
        await this.transactions.run(async (tx) => {
          // If the run has ended in the meantime, its next alert is due.
          const isCurrent = (await this.runs.lock(tx, run.id))?.state === run.state;
          if (isCurrent) await this.runs.update(tx, run.id, { alerted: now() });
        });
        if (this.isStopping) return;
      }
      const { folderFault, lastAvailable } = this.schedule;
      if (folderFault !== undefined) {
        const data = { reason: folderFault, last_available: toIsoOrNull(lastAvailable) };
        await this.alertDaily('folder_lost', lastAvailable, data);
      }
      const overdue = await this.summary.readOverdue();
      if (!overdue?.isOverdue) return;
      const { since, lastCompleted, missingParts } = overdue;
      await this.alertDaily('overdue', since, {
        hours: this.env.IMPORT_OVERDUE_HOURS,
        last_completed: toIsoOrNull(lastCompleted),
        ...(missingParts.length > 0 && { missing_parts: missingParts }),
      });
    });
  }

  /**
   * Sends an alert about a problem, unless an instance has already sent an alert about it within the last day.
   * @param last last time without the problem, or null. An alert before this time concerned an earlier problem.
   */
  private async alertDaily(
    state: 'overdue' | 'folder_lost',
    last: DbTime | null,
    data: object,
  ): Promise<void> {
    // An entry among the leases that is never used as a lease, but stores the time of the last alert.
    const entry = `alerts.${state}`;
    const sent = await this.leases.findRecordedTime(entry);
    const isDue =
      sent === undefined || sent < addSeconds(now(), -REMINDER_SECONDS) || (last !== null && sent < last);
    const alert = createAlert(`${state}-${toIsoOrNull(last) ?? 'never'}`, `import.${state}`, {
      url: this.urlOf('imports'),
      ...data,
    });
    if (isDue && (await this.deliver(alert))) await this.leases.recordTime(entry, now());
  }

  /** Returns the URL of a page of the console, or of the same resource of the API if the console is off. */
  private urlOf(path: string): string {
    return `${this.env.baseUrl}/${this.env.CONSOLE_ENABLED ? 'console' : 'api/0.3'}/${path}`;
  }

  /** @returns false if the delivery failed. */
  private async deliver(alert: Alert): Promise<boolean> {
    const { type, id } = alert;
    try {
      await this.sender.send(alert, this.stopping.signal);
    } catch (error) {
      if (this.stopping.signal.aborted) return false;
      if (!(error instanceof AlertError)) throw error;
      const pause = Math.min(LAST_PAUSE_MILLIS, FIRST_PAUSE_MILLIS * 2 ** this.failures++);
      this.pausedUntil = performance.now() + pause;
      this.log.warn('alert failed', { type, id, reason: error.message, retry_seconds: pause / 1000 });
      return false;
    }
    this.failures = 0;
    this.log.info('alert sent', { type, id });
    return true;
  }
}

/** Creates the alert for a run that waits for approval or has ended early. */
function createRunAlert(run: ImportRun, url: string): Alert {
  const { id, state, dataset, part, counts, guards } = run;
  const hits = guards.filter((guard) => guard.hit).map(({ name, value, limit }) => ({ name, value, limit }));
  const data = {
    id,
    url,
    dataset,
    part,
    file: run.file_name,
    counts,
    missing: missingCountsOf(run),
    guards: hits,
    reason: run.reason?.code ?? null,
  };
  // An approved run can fail later. The receiver must not mistake its second alert for a repetition.
  if (state === 'failed' || state === 'cancelled')
    return createAlert(`${id}-${state}`, `import.${state}`, data);
  return createAlert(id, 'import.needs_approval', data);
}

function createAlert(id: string, type: AlertType, data: object): Alert {
  return { id, type, body: JSON.stringify({ type, timestamp: toIso(now()), data }) };
}
