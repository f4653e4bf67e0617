import { Presets, SingleBar } from 'cli-progress';
import { type ImportRun, RUNNABLE } from '../import/runs/import-run.js';

const FORMAT = '{phase} {bar} {percentage}% {rows}';

/** The progress of a run on standard error: a bar on a terminal, elsewhere a line for each phase. */
export class Progress {
  private readonly bar = process.stderr.isTTY
    ? new SingleBar(
        { format: FORMAT, hideCursor: true, barsize: 30, stream: process.stderr },
        Presets.shades_classic,
      )
    : undefined;
  private started = false;
  private phase = '';

  show(run: ImportRun): void {
    if (!RUNNABLE.includes(run.state)) return;
    const phase = run.state;
    if (phase !== this.phase && !this.bar) process.stderr.write(`${phase} …\n`);
    this.phase = phase;
    if (!this.bar) return;
    const total = run.rowsTotal === null ? '' : ` of ${run.rowsTotal}`;
    const payload = { phase: phase.padEnd(10), rows: `${run.rowsDone}${total} rows` };
    if (this.started) this.bar.update(run.percent, payload);
    else this.bar.start(100, run.percent, payload);
    this.started = true;
  }

  end(): void {
    if (this.started) this.bar?.stop();
  }
}
