import { parseArgs } from 'node:util';
import { Life } from './life.js';
import { Operator } from './operator.js';
import { Organisation } from './organisation.js';

/**
 * `npm run nights`: simulates a year of nightly imports in organisations of several sizes, and prints how often the
 * guards ask. See tools/nights/README.md.
 */
const { values: options } = parseArgs({
  options: {
    size: {
      type: 'string',
      multiple: true,
      default: ['8', '25', '60', '150', '400', '1500', '6000', '40000'],
    },
    seeds: { type: 'string', default: '10' },
    nights: { type: 'string', default: '365' },
    explain: { type: 'boolean', default: false },
  },
});
const HEADER = ['Users', 'Nights', 'Nights that ask', 'Ratio', 'Extraordinary nights that ask', 'Guards'];

const printRow = (cells: readonly unknown[]): void => void process.stdout.write(`| ${cells.join(' | ')} |\n`);

async function simulateSize(size: number): Promise<void> {
  const [ordinary, extraordinary] = [
    { nights: 0, asking: 0 },
    { nights: 0, asking: 0 },
  ];
  const guards = new Map<string, number>();
  for (let seed = 1; seed <= Number(options.seeds); seed++) {
    const org = new Organisation(size, seed);
    const [life, operator] = [new Life(org), new Operator(org)];
    for (let night = 0; night < Number(options.nights); night++) {
      const isExtraordinary = life.live(night);
      const hits = await operator.importFile(night);
      const kind = isExtraordinary ? extraordinary : ordinary;
      kind.nights++;
      if (hits.length === 0) continue;
      kind.asking++;
      if (!isExtraordinary) for (const { name } of hits) guards.set(name, (guards.get(name) ?? 0) + 1);
      if (!options.explain) continue;
      const events = [...org.events].map(([event, count]) => `${count} ${event}`).join(', ');
      printRow([size, `seed ${seed}`, org.time.slice(0, 10), isExtraordinary ? 'extraordinary' : '', events]);
      for (const { name, field, value, limit, hint } of hits)
        printRow([size, name, field, `${value} of at most ${limit}`, hint.slice(0, 120)]);
    }
  }
  const { nights, asking } = ordinary;
  const ratio = asking === 0 ? 'none' : `1 in ${Math.floor(nights / asking)}`;
  const counts = [...guards].sort(([, a], [, b]) => b - a).map(([name, count]) => `${name} ${count}`);
  printRow([
    size,
    nights,
    asking,
    ratio,
    `${extraordinary.asking} of ${extraordinary.nights}`,
    counts.join(', '),
  ]);
}

printRow(HEADER);
printRow(HEADER.map(() => '---'));
for (const size of options.size) await simulateSize(Number(size));
