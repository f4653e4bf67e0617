import 'reflect-metadata';
import { execFileSync } from 'node:child_process';
import { PAIRS, addMember, bulkCreates, groupOf, singleCreates } from './cases/scim.js';
import { compareScales } from './cases/scale.js';
import { SCIM_LISTS, scimPersonOf } from './cases/scale-scim.js';
import { Service } from './faults/servers.js';
import { cleanUpAtExit } from './support/clean-up.js';
import { pinMyself, planCores } from './support/cores.js';
import { type BenchEngine, startEngine } from './support/engine.js';
import type { Contender } from './support/load.js';
import { inTurns, median } from './support/rounds.js';
import { seed } from './support/seed.js';
import { readSettings } from './support/settings.js';

/**
 * `npm run bench:scim`: SCIM beside the same work over REST, Bulk beside single requests and the bare writer, and a member more
 * in a large group beside a small one; each in turns, in CPU of the service and its database. BENCH_ENGINE, BENCH_CASES,
 * BENCH_ROUNDS and BENCH_SECONDS as in `npm run bench`. Results are printed; docs/performance-scim.md has those of a quiet machine.
 */
const USERS = 110_000;
const LARGE = 100_000;
const SMALL = 10;
const SMALL_GROUPS = 200;
const BULK = 1000;
const NEW = 6_000_000;
const MANY = 1_000_000;

cleanUpAtExit();
const { engines, cases, rounds, seconds } = readSettings(['pairs', 'bulk', 'members', 'scale']);
const cores = planCores();
pinMyself(cores.load);

function say(engine: BenchEngine, name: string, ...cells: readonly (number | string)[]): void {
  const text = cells.map((cell) => (typeof cell === 'number' ? cell.toFixed(2) : cell).padStart(12)).join('');
  process.stdout.write(`${engine.name.padEnd(8)} ${name.padEnd(44)}${text}\n`);
}

/** Microseconds of CPU for a request of each of two, and the median of the ratios of rounds. */
async function twoOf(
  engine: BenchEngine,
  service: Service,
  requests: Parameters<typeof inTurns>[1],
  next: () => number,
): Promise<[before: string, after: string, ratio: number]> {
  const contenders = ['first', 'second'].map((name): Contender => {
    return { name, url: service.url, pid: service.pid, alsoCounted: engine.pids };
  });
  const samples = await inTurns(contenders, requests, next, { rounds, seconds });
  const [first = [], second = []] = samples.map((each) => each.map(({ perCpuSecond }) => 1e6 / perCpuSecond));
  const ratio = median(first.map((micros, round) => (second[round] ?? Number.NaN) / micros));
  return [median(first).toFixed(0), median(second).toFixed(0), ratio];
}

let created = NEW;

async function pairs(engine: BenchEngine, service: Service): Promise<void> {
  for (const { title, rest, scim, limit, isNew } of PAIRS) {
    const next = isNew ? () => created++ : () => Math.floor(Math.random() * USERS);
    const cells = await twoOf(engine, service, [rest, scim], next);
    say(engine, `${title} (µs REST, SCIM, ratio, limit)`, ...cells, limit);
  }
}

/** Sets of the bare writer, in a process of its own on a database of its own. */
function writerRate(url: string, size: number): number {
  const args = ['--import', '@swc-node/register/esm-register', 'bench/writer.ts', String(size)];
  const env = { ...process.env, DATABASE_URL: url };
  const text = execFileSync(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'ignore'] }).toString();
  return Number(/^create .* (\d+) users\/s$/m.exec(text)?.[1]);
}

async function bulk(engine: BenchEngine, service: Service): Promise<void> {
  const rates = {
    bulk: [] as number[],
    single: [] as number[],
    ofBulk: [] as number[],
    ofSingle: [] as number[],
  };
  for (let round = 0; round <= rounds; round++) {
    const many = await bulkCreates(engine, service, created, BULK);
    const one = await singleCreates(engine, service, created + BULK, BULK);
    created += 2 * BULK;
    if (round === 0) continue; // the pace of Bulk and the compiler find their way
    rates.bulk.push(many.perSecond);
    rates.single.push(one.perSecond);
    rates.ofBulk.push(many.perCpuSecond);
    rates.ofSingle.push(one.perCpuSecond);
  }
  const [many, one] = [median(rates.bulk), median(rates.single)];
  say(engine, 'users/s: Bulk, single, ratio', many.toFixed(0), one.toFixed(0), many / one);
  const [ofMany, ofOne] = [median(rates.ofBulk), median(rates.ofSingle)];
  say(engine, 'users per CPU-second: the same', ofMany.toFixed(0), ofOne.toFixed(0), ofMany / ofOne);
  for (const size of [25, 100, 500]) {
    const bare = writerRate(engine.create(`writer${size}`), size);
    say(engine, `bare writer, sets of ${size} (users/s, Bulk's share)`, bare.toFixed(0), many / bare);
  }
}

async function members(engine: BenchEngine, service: Service): Promise<void> {
  const large = await groupOf(service, 'large', LARGE);
  const small: string[] = [];
  while (small.length < SMALL_GROUPS) small.push(await groupOf(service, `small ${small.length}`, SMALL));
  let next = LARGE;
  const cells = await twoOf(engine, service, [addMember(small), addMember([large])], () => next++);
  say(engine, `a member more (µs in ${SMALL}, ${LARGE}, ratio, limit)`, ...cells, 1.5);
}

async function scale(engine: BenchEngine): Promise<void> {
  const log = (line: string): void => {
    process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${engine.name}: ${line}\n`);
  };
  const context = { engine, cores, effort: { rounds, seconds }, say: log };
  for (const { case: title, service, floors } of await compareScales(
    context,
    MANY,
    SCIM_LISTS,
    scimPersonOf,
  )) {
    const [few] = floors;
    if (!few) continue;
    const micros = [few, service].map(({ perCpuSecond }) => (1e6 / perCpuSecond).toFixed(0));
    say(engine, `${title} (µs at 1,000, ${MANY.toLocaleString('en')})`, ...micros, 1 / few.ratio.cpu, 2);
  }
}

for (const name of engines) {
  const engine = await startEngine(name, cores.database, cases.includes('scale') ? 'large' : 'default');
  try {
    if (cases.includes('scale')) await scale(engine);
    if (cases.every((each) => each === 'scale')) continue;
    const url = engine.create('scim');
    await seed(url, USERS, () => undefined);
    const service = await Service.make({ DATABASE_URL: url, LOG_LEVEL: 'info' }, undefined, cores.server);
    try {
      if (cases.includes('pairs')) await pairs(engine, service);
      if (cases.includes('bulk')) await bulk(engine, service);
      if (cases.includes('members')) await members(engine, service);
    } finally {
      await service.remove();
    }
  } finally {
    await engine.remove();
  }
}
