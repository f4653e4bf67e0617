import { Injectable } from '@nestjs/common';
import { TransactionRunner } from '../../platform/database/transaction-runner.js';
import { Log } from '../../platform/telemetry/log.js';
import { ImportFilesRepository } from '../file/import-files.repository.js';
import { RunEvents } from '../report/run-events.js';
import { ImportRunsRepository } from '../runs/import-runs.repository.js';
import { type RunState, WAITING } from '../runs/run-states.js';
import { RunTransitions } from '../runs/run-transitions.service.js';
import { RunRights } from '../runs/run-rights.service.js';

/** Runs of each waiting state that one pass looks at: what it costs does not grow with their number. */
const LOOKED_AT = 100;

/**
 * Ends runs that wait for a decision when whoever started them has lost the rights (interface §6): nobody could apply them
 * any more. Passes go around all of them; a decision looks at its run at once.
 */
@Injectable()
export class WaitingRuns {
  /** The last run of each state that was looked at. */
  private readonly seen = new Map<RunState, string>();

  constructor(
    private readonly runs: ImportRunsRepository,
    private readonly files: ImportFilesRepository,
    private readonly rights: RunRights,
    private readonly transactions: TransactionRunner,
    private readonly transitions: RunTransitions,
    private readonly events: RunEvents,
    private readonly log: Log,
  ) {}

  /** Looks at the next runs that wait. */
  async pass(): Promise<void> {
    for (const state of WAITING) {
      const page = await this.runs.waiting(state, this.seen.get(state) ?? '', LOOKED_AT);
      const lost = new Map<string, boolean>();
      for (const { id, starter } of page) {
        const who = `${starter.kind} ${starter.id ?? ''}`;
        const hasLost = lost.get(who) ?? (await this.rights.hasLost(starter));
        lost.set(who, hasLost);
        if (hasLost) await this.endIfLost(id);
      }
      this.seen.set(state, page.length < LOOKED_AT ? '' : (page.at(-1)?.id ?? ''));
    }
  }

  /** Ends a run that waits for a decision where its starter has lost the rights. */
  async endIfLost(id: string): Promise<void> {
    const ended = await this.transactions.run(async (tx) => {
      const run = await this.runs.lock(tx, id);
      if (!run || !WAITING.includes(run.state)) return false; // decided in the meantime
      const reason = await this.rights.lost(tx, { starter: run.caller.actor, approver: null });
      if (!reason) return false;
      await this.transitions.transition(tx, run, 'disown', { reason });
      return true;
    });
    if (!ended) return;
    await this.files.delete(id); // a purge does it, where this fails
    this.log.event('import', { run: id, state: 'cancelled' });
    this.events.notify(id);
  }
}
