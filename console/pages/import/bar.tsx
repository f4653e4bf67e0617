import { number } from '../../lib/text.js';
import { type Counted, countsOf, outcomeText } from './runs.js';

/** Shows the outcomes of a run as a stacked bar and as text. */
export function Bar({ run, isLabelled = true }: { run: Counted; isLabelled?: boolean }) {
  const counts = countsOf(run);
  if (counts.length === 0) return <span class="none">no rows</span>;
  const text = counts
    .map(([outcome, rows]) => `${number(rows)} ${outcomeText(run, outcome).toLowerCase()}`)
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

export const Legend = ({ run, isPlan = false }: { run: Counted; isPlan?: boolean }) => (
  <ul class="legend small">
    {countsOf(run).map(([outcome, rows]) => (
      <li key={outcome}>
        <span class={`dot of-${outcome}`} />
        <span class="muted">{outcomeText(run, outcome, isPlan)}</span> <strong>{number(rows)}</strong>
      </li>
    ))}
  </ul>
);
