import { number, words } from '../../lib/text.js';
import { type Counted, countsOf } from './runs.js';

/** The outcomes of a run as shares of a line, which its text says too. */
export function Bar({ run }: { run: Counted }) {
  const counts = countsOf(run);
  if (counts.length === 0) return <span class="none">no rows</span>;
  const text = counts.map(([outcome, rows]) => `${number(rows)} ${outcome}`).join(', ');
  return (
    <div class="bar" role="img" aria-label={text} title={text}>
      {counts.map(([outcome, rows]) => (
        <span key={outcome} class={`of-${outcome}`} style={{ flexGrow: rows }} />
      ))}
    </div>
  );
}

export const Legend = ({ run }: { run: Counted }) => (
  <ul class="legend small">
    {countsOf(run).map(([outcome, rows]) => (
      <li key={outcome}>
        <span class={`dot of-${outcome}`} />
        <span class="muted">{words(outcome)}</span> <strong>{number(rows)}</strong>
      </li>
    ))}
  </ul>
);
