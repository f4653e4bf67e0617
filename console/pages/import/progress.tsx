import type { Run } from '../../api/client.js';
import { formatNumber } from '../../lib/text.js';
import { formatDuration } from '../../lib/time.js';

/** Shows the progress of a working run. */
export function Progress({ run }: { run: Run }) {
  if (run.state === 'queued') return <span class="muted">Waiting in the queue</span>;
  const { percent, rows_done: done, rows_total: total, eta_seconds: eta } = run.progress;
  return (
    <div class="working">
      <progress max={100} value={percent} aria-label={`Progress of ${run.file.name}`} />
      <span class="small muted">
        {percent} %{total !== null && ` · ${formatNumber(done)} of ${formatNumber(total)} rows`}
        {eta !== null && eta > 0 && ` · ${formatDuration(eta)} left`}
      </span>
    </div>
  );
}
