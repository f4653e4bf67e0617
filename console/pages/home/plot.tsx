import { number } from '../../lib/text.js';
import type { Day } from './home.js';

const SERIES = [
  { name: 'created', text: 'Created' },
  { name: 'updated', text: 'Updated' },
  { name: 'blocked', text: 'Blocked' },
  { name: 'failed', text: 'Failed rows' },
] as const;
const STEP = 20;
const HEIGHT = 120;
const GAP = 4;
/** Pixels of a value that is not 0, so that it can be seen. */
const LEAST = 2;

const DATE = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const shown = (date: string): string => DATE.format(new Date(`${date}T12:00`));

/** What imports changed on each day, as columns; the same as a table for who does not see them. */
export function Plot({ days }: { days: readonly Day[] }) {
  const total = (day: Day): number => SERIES.reduce((sum, { name }) => sum + day[name], 0);
  const most = Math.max(...days.map(total), 1);
  return (
    <figure class="plot">
      <svg
        viewBox={`0 0 ${days.length * STEP} ${HEIGHT}`}
        role="img"
        preserveAspectRatio="none"
        aria-label={`Changes by imports in the last ${days.length} days; the table below has the numbers.`}
      >
        {days.map((day, n) => (
          <Column key={day.date} day={day} x={n * STEP} most={most} />
        ))}
      </svg>
      <figcaption class="small muted">
        <span>{shown(days[0]?.date ?? '')}</span>
        <span>today</span>
      </figcaption>
      <ul class="legend">
        {SERIES.map(({ name, text }) => (
          <li key={name}>
            <span class={`dot of-${name === 'failed' ? 'error' : name}`} />
            {text}
          </li>
        ))}
      </ul>
      <details class="small">
        <summary>As a table</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">Day</th>
              <th scope="col" class="number">
                Imports
              </th>
              {SERIES.map(({ name, text }) => (
                <th key={name} scope="col" class="number">
                  {text}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {days
              .filter(({ runs }) => runs > 0)
              .map((day) => (
                <tr key={day.date}>
                  <td>{shown(day.date)}</td>
                  <td class="number">{number(day.runs)}</td>
                  {SERIES.map(({ name }) => (
                    <td key={name} class="number">
                      {number(day[name])}
                    </td>
                  ))}
                </tr>
              ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}

function Column({ day, x, most }: { day: Day; x: number; most: number }) {
  let y = HEIGHT;
  return (
    <g>
      <title>
        {shown(day.date)}: {SERIES.map(({ name, text }) => `${text} ${number(day[name])}`).join(', ')}
      </title>
      <rect x={x} y={0} width={STEP - GAP} height={HEIGHT} class="ground" />
      {SERIES.map(({ name }) => {
        const height = day[name] === 0 ? 0 : Math.max(LEAST, (day[name] / most) * HEIGHT);
        y -= height;
        return (
          height > 0 && (
            <rect
              key={name}
              x={x}
              y={y}
              width={STEP - GAP}
              height={height}
              class={`fill-${name === 'failed' ? 'error' : name}`}
            />
          )
        );
      })}
    </g>
  );
}
