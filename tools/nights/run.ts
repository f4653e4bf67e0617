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
  const createTally = () => ({ nights: 0, asking: 0, guards: [] as string[] });
  const [ordinary, extraordinary] = [createTally(), createTally()];
  for (let seed = 1; seed <= Number(options.seeds); seed++) {
    const org = new Organisation(size, seed);
    const [life, operator] = [new Life(org), new Operator(org)];
    for (let night = 0; night < Number(options.nights); night++) {
      const kind = life.live(night) ? extraordinary : ordinary;
      const hits = await operator.importFile(night, life.time);
      kind.nights++;
      kind.asking += Number(hits.length > 0);
      kind.guards.push(...new Set(hits.map(({ name }) => name)));
      if (hits.length === 0 || !options.explain) continue;
      printRow([
        size,
        seed,
        life.time.slice(0, 10),
        kind === ordinary ? 'ordinary' : 'extraordinary',
        ...life.events,
      ]);
      for (const { name, field, value, limit } of hits)
        printRow([size, seed, name, field, `${value} of ${limit}`]);
    }
  }
  const counts = Map.groupBy(ordinary.guards, (name) => name);
  const guards = [...counts].map(([name, { length }]) => `${name} ${length}`);
  const ratio = ordinary.asking === 0 ? 'never' : `1 in ${Math.floor(ordinary.nights / ordinary.asking)}`;
  const rest = `${extraordinary.asking} of ${extraordinary.nights}`;
  printRow([size, ordinary.nights, ordinary.asking, ratio, rest, guards.join(', ')]);
}

printRow(HEADER);
printRow(HEADER.map(() => '---'));
for (const size of options.size) await simulateSize(Number(size));
