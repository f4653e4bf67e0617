import type { Comparison } from './results.js';
import { ENGINE_NAMES } from './table.js';

const WIDTH = 900;
const LEFT = 370;
const RIGHT = 90;
const TOP = 52;
const STEP = 24;
const BAR = 14;
/** The share at the right end. */
const MOST = 1.2;

const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #24292f; }
  .title { font-weight: 600; }
  .axis { stroke: #8c959f; }
  .reached { fill: #1a7f37; }
  .missed { fill: #bc4c00; }
  .goal { stroke: #24292f; stroke-width: 2; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .reached { fill: #3fb950; }
    .missed { fill: #db8a4a; }
    .goal { stroke: #e6edf3; }
  }`;

const xOf = (share: number): number =>
  Math.round(LEFT + (Math.min(share, MOST) / MOST) * (WIDTH - LEFT - RIGHT));
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Bars of the service's share of each floor that has a goal, by CPU, each with the line of its goal. */
export function chartOf(comparisons: readonly Comparison[]): string {
  const bars = comparisons.flatMap(({ case: title, engine, floors }) =>
    floors.flatMap(({ ratio, goal }) =>
      goal === undefined ? [] : [{ label: `${title} (${ENGINE_NAMES[engine]})`, share: ratio.cpu, goal }],
    ),
  );
  const height = TOP + bars.length * STEP + 16;
  const rows = bars.map(({ label, share, goal }, index) => {
    const y = TOP + index * STEP;
    const kind = share >= goal ? 'reached' : 'missed';
    return [
      `<text x="${LEFT - 8}" y="${y + 12}" text-anchor="end">${escaped(label)}</text>`,
      `<rect class="${kind}" x="${LEFT}" y="${y}" width="${xOf(share) - LEFT}" height="${BAR}"/>`,
      `<line class="goal" x1="${xOf(goal)}" x2="${xOf(goal)}" y1="${y - 3}" y2="${y + BAR + 3}"/>`,
      `<text x="${Math.max(xOf(share), xOf(goal)) + 6}" y="${y + 12}">${share.toFixed(2)} of ${goal.toFixed(2)}</text>`,
    ].join('\n');
  });
  const title = 'Share of the floor that the service reaches, by CPU';
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${title}">
<style>${STYLE}
</style>
<text class="title" x="${LEFT}" y="18">${title}</text>
<text x="${LEFT}" y="36">The upright lines are the goals: a share of so much.</text>
<line class="axis" x1="${LEFT}" x2="${LEFT}" y1="${TOP - 6}" y2="${height - 10}"/>
${rows.join('\n')}
</svg>
`;
}
