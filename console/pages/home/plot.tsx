import { formatNumber } from '../../lib/text.js';
import { Card } from '../../parts/page.js';
import { Table } from '../../parts/table.js';
import type { Day } from './home.js';

/** Series of a stacked bar chart, from bottom to top. */
export type Series = readonly {
  name: Exclude<keyof Day, 'day' | 'complete'>;
  text: string;
  /** Colour of the bars. */
  tone: 'created' | 'updated' | 'blocked' | 'error';
}[];

const BAR_STEP = 20;
const HEIGHT = 120;
const GAP = 4;
/** Minimum height of a non-zero value, in pixels. */
const MIN_HEIGHT = 2;

const DATE = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const formatDay = (day: string): string => DATE.format(new Date(`${day}T12:00`));

/** A bar chart with one bar per day, and the same data as a table, newest day first. Days without events are omitted in the table. */
export function Plot({ title, days, series }: { title: string; days: readonly Day[]; series: Series }) {
  const total = (day: Day): number => series.reduce((sum, { name }) => sum + day[name], 0);
  const most = Math.max(...days.map(total), 1);
  const isExact = days.every(({ complete }) => complete);
  return (
    <Card title={title}>
      <figure class="plot">
        <svg
          viewBox={`0 0 ${days.length * BAR_STEP} ${HEIGHT}`}
          role="img"
          preserveAspectRatio="none"
          aria-label={`${title} in the last ${days.length} days. The table below contains the numbers.`}
        >
          {days.map((day, n) => (
            <DayBar key={day.day} day={day} series={series} x={n * BAR_STEP} most={most} />
          ))}
        </svg>
        <figcaption class="small muted">
          <span>{formatDay(days[0]?.day ?? '')}</span>
          <span>today</span>
        </figcaption>
        <ul class="legend small">
          {series.map(({ name, text, tone }) => (
            <li key={name}>
              <span class={`dot of-${tone}`} />
              {text} {!isExact && 'at least '}
              <strong>{formatNumber(days.reduce((sum, day) => sum + day[name], 0))}</strong>
            </li>
          ))}
        </ul>
        {!isExact && <p class="small muted">The counts of some days are incomplete. See the table.</p>}
        <details class="small">
          <summary>Show as table</summary>
          <Table
            caption={title}
            rows={days.filter((day) => total(day) > 0 || !day.complete).toReversed()}
            getKey={({ day }) => day}
            empty="No events in this period."
            columns={[
              { title: 'Day', cell: ({ day }) => formatDay(day) },
              ...series.map(({ name, text }) => ({
                title: text,
                isNumber: true,
                cell: (day: Day) => `${formatNumber(day[name])}${day.complete ? '' : ' or more'}`,
              })),
            ]}
          />
        </details>
      </figure>
    </Card>
  );
}

function DayBar({ day, series, x, most }: { day: Day; series: Series; x: number; most: number }) {
  let y = HEIGHT;
  return (
    <g>
      <title>
        {formatDay(day.day)}:{' '}
        {series.map(({ name, text }) => `${text} ${formatNumber(day[name])}`).join(', ')}
      </title>
      <rect x={x} y={0} width={BAR_STEP - GAP} height={HEIGHT} class="ground" />
      {series.map(({ name, tone }) => {
        const height = day[name] === 0 ? 0 : Math.max(MIN_HEIGHT, (day[name] / most) * HEIGHT);
        y -= height;
        return (
          height > 0 && (
            <rect key={name} x={x} y={y} width={BAR_STEP - GAP} height={height} class={`fill-${tone}`} />
          )
        );
      })}
    </g>
  );
}
