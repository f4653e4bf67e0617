import type { Run } from '../../api/client.js';
import { formatNumber } from '../../lib/text.js';
import { type RunCounts, listOutcomes, formatOutcome } from './runs.js';

/** Shows the outcomes of a run as a stacked bar and as text. */
export function Bar({ run, isLabelled = true }: { run: RunCounts; isLabelled?: boolean }) {
  const counts = listOutcomes(run);
  if (counts.length === 0) return <span class="none">no rows</span>;
  const text = counts
    .map(([outcome, rows]) => `${formatNumber(rows)} ${formatOutcome(run, outcome).toLowerCase()}`)
    .join(', ');
  return (
    <>
      <div class="bar" aria-hidden="true">
        {counts.map(([outcome, rows]) => (
          <span key={outcome} class={`of-${outcome}`} style={{ flexGrow: rows }} />
        ))}
      </div>
      {isLabelled && <span class="small muted">{text}</span>}
    </>
  );
}

export const Legend = ({ run }: { run: Run }) => (
  <ul class="legend small">
    {listOutcomes(run).map(([outcome, rows]) => (
      <li key={outcome}>
        <span class={`dot of-${outcome}`} />
        <span class="muted">{formatOutcome(run, outcome)}</span> <strong>{formatNumber(rows)}</strong>
        {outcome === 'created' && !run.applied && run.created_blocked > 0 && (
          <span>({formatNumber(run.created_blocked)} blocked)</span>
        )}
      </li>
    ))}
  </ul>
);
