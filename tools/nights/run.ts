import { parseArgs } from 'node:util';
import { GuardHistory } from './guard-history.js';
import { Life } from './life.js';
import { Organisation } from './organisation.js';
import { planNight } from './plan-night.js';

/**
 * `npm run nights`: simulates organisations of several sizes for a year of nightly imports, and prints how often the
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

/** Nights of one kind, and how many of them ask. */
class Tally {
  nights = 0;
  asking = 0;
  readonly guards = new Map<string, number>();

  add(guards: readonly string[]): void {
    this.nights++;
    if (guards.length > 0) this.asking++;
    for (const guard of new Set(guards)) this.guards.set(guard, (this.guards.get(guard) ?? 0) + 1);
  }
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

async function simulateSize(size: number): Promise<string> {
  const [ordinary, extraordinary] = [new Tally(), new Tally()];
  for (let seed = 1; seed <= Number(options.seeds); seed++) {
    const org = new Organisation(size, seed);
    const [life, history] = [new Life(org), new GuardHistory()];
    for (let night = 0; night < Number(options.nights); night++) {
      const isExtraordinary = life.live(night);
      const hits = await history.evaluate(org, planNight(org));
      (isExtraordinary ? extraordinary : ordinary).add(hits.map(({ name }) => name));
      if (hits.length === 0 || !options.explain) continue;
      const events = [...org.events].map(([event, count]) => `${count} × ${event}`).join(', ');
      print(
        `${size} users, seed ${seed}, ${org.night.day}${isExtraordinary ? ' (extraordinary)' : ''}: ${events}`,
      );
      for (const { name, field, value, limit, hint } of hits)
        print(`  ${name} ${field ?? ''} ${value} > ${limit} ${hint.slice(0, 100)}`);
    }
  }
  const guards = [...ordinary.guards].sort((a, b) => b[1] - a[1]).map(([name, count]) => `${name} ${count}`);
  const once = ordinary.asking === 0 ? 'never' : `1 in ${Math.round(ordinary.nights / ordinary.asking)}`;
  return [
    ...[size, ordinary.nights, ordinary.asking, once],
    `${extraordinary.asking} of ${extraordinary.nights}`,
    guards.join(', '),
  ].join(' | ');
}

const table: string[] = [];
for (const size of options.size) table.push(await simulateSize(Number(size)));
print(
  '| Users | Ordinary nights | Nights that ask | Ratio | Extraordinary nights that ask | Guards on ordinary nights |',
);
print('| ---: | ---: | ---: | ---: | ---: | --- |');
for (const row of table) print(`| ${row} |`);
