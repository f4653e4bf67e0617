import { setTimeout as delay } from 'node:timers/promises';
import { randoms } from '../../test/support/data/random.js';
import { blockedLogin, keyUser, sessionUser } from './clients/credentials.js';
import { ENDED, importer } from './clients/importer.js';
import * as users from './clients/users.js';
import type { Fault } from './faults.js';
import { finalState } from './final-state.js';
import { type Broken, History } from './history.js';
import { judge } from './judge.js';
import { Sender } from './sender.js';
import type { Target } from './targets.js';
import { API, World, isDone } from './world.js';

export interface CheckOptions {
  seconds: number;
  seed: number;
  /** Told of each fault, and of what goes on. */
  report?: (line: string) => void;
  /** Called when all is quiet, before the last look. */
  beforeJudging?: () => void;
}

export interface Checked {
  broken: readonly Broken[];
  /** How many requests were sent, and how the unsafe ones ended. */
  requests: number;
  effects: Readonly<Record<string, number>>;
  /** How often each fault was made. */
  faults: Readonly<Record<string, number>>;
  history: History;
}

const HEALED = 60_000;
const IMPORTED = 90_000;

/** Runs clients and faults for some seconds, waits until all is well again, and judges the history. */
export async function check(
  target: Target,
  { seconds, seed, report, beforeJudging }: CheckOptions,
): Promise<Checked> {
  const say = report ?? (() => undefined);
  const random = randoms(seed);
  const history = new History();
  const run = `c${seed.toString(36)}`;
  const urls = target.instances.map(({ url }) => url);
  const sender = new Sender(history, urls, run);
  let worlds = 0;
  const newWorld = (): World =>
    new World(sender, history, randoms(seed + ++worlds * 7919), `${run}-${worlds.toString(36)}`);
  const steps = await clients(newWorld);
  const stop = new AbortController();
  const running = steps.map((step) => loop(step, random, stop.signal));
  const faults = await strike(target, random, seconds * 1000, say);
  stop.abort();
  const hurry = setTimeout(() => (sender.hurry = true), 20_000);
  await Promise.all(running);
  clearTimeout(hurry);
  const broken = [...(await healed(sender, target)), ...(await imported(sender))];
  beforeJudging?.();
  const final = await finalState(sender);
  sender.close();
  broken.push(...judge(history, final));
  return { broken, requests: history.attempts.length, effects: effectsOf(history), faults, history };
}

/** The users that several clients change, and the clients. Each client makes its own choices, so that they do not depend on the others. */
async function clients(newWorld: () => World): Promise<users.Step[]> {
  const setup = newWorld();
  const group = async (size: number, fields: Record<string, unknown> = {}): Promise<string[]> => {
    const made: string[] = [];
    for (let count = 0; count < size; count++) made.push(await setup.created(fields));
    return made;
  };
  const hot = await group(3, { about_me: '0' });
  const named = await group(5);
  const managed = await group(5);
  const toggled = await group(3);
  const pair = await group(2, { roles: ['Webmaster'] });
  await demoteOthers(setup, pair);
  return [
    users.creator(newWorld()),
    users.creator(newWorld()),
    users.counter(newWorld(), hot),
    users.counter(newWorld(), hot),
    users.counter(newWorld(), hot),
    users.overwriter(newWorld(), hot),
    users.nameTaker(newWorld(), named),
    users.swapper(newWorld(), named),
    users.managerCircle(newWorld(), managed),
    users.statusChanger(newWorld(), toggled),
    users.webmasterDuel(newWorld(), pair),
    sessionUser(newWorld()),
    blockedLogin(newWorld()),
    keyUser(newWorld()),
    users.reader(newWorld(), [...hot, ...toggled, ...managed]),
    users.walker(newWorld()),
    importer(newWorld()),
  ];
}

/** The first Webmaster and those of an earlier run give the role up, so that two are left. */
async function demoteOthers(world: World, pair: readonly string[]): Promise<void> {
  const found = await world.search('role=Webmaster&limit=100', 0);
  for (const { uuid } of found?.users ?? []) {
    if (pair.includes(String(uuid))) continue;
    const { call } = await world.change(String(uuid), { roles: ['Author'] });
    if (!isDone(call)) throw new Error('the first Webmaster keeps the role');
  }
}

async function loop(step: users.Step, random: (below: number) => number, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    await step();
    await delay(random(20));
  }
}

/**
 * Makes all faults in turn, in a random order, with pauses, and now and then two at once; at least each of them once.
 * @returns how often each was made.
 */
async function strike(
  target: Target,
  random: (below: number) => number,
  millis: number,
  say: (line: string) => void,
): Promise<Record<string, number>> {
  const made: Record<string, number> = {};
  const until = performance.now() + millis;
  const make = async (fault: Fault | undefined): Promise<void> => {
    if (!fault) return;
    const began = performance.now();
    await fault.strike(random);
    made[fault.name] = (made[fault.name] ?? 0) + 1;
    say(`${Math.round(began)} ms: ${fault.name}, over after ${Math.round(performance.now() - began)} ms`);
  };
  for (let left: Fault[] = []; ;) {
    await delay(500 + random(2000));
    const all = target.faults.every(({ name }) => name in made);
    if (all && performance.now() >= until) return made;
    if (left.length === 0) left = [...target.faults];
    const one = left.splice(random(left.length), 1)[0];
    const others = target.faults.filter(({ to }) => to !== one?.to);
    const two = random(4) === 0 ? others[random(others.length)] : undefined;
    await Promise.all([make(one), make(two)]);
  }
}

/** After the faults every instance must answer, without a restart. */
async function healed(sender: Sender, { instances }: Target): Promise<Broken[]> {
  const broken: Broken[] = [];
  for (const instance of instances.keys()) {
    const until = performance.now() + HEALED;
    for (let good = false; !good;) {
      const [{ status }] = await sender.ask({ method: 'GET', path: '/health/ready', instance });
      good = status === 200;
      if (!good && performance.now() > until) {
        broken.push({
          promise: 'recovery',
          text: `instance ${instance} is not ready ${HEALED} ms after the faults`,
        });
        break;
      }
      if (!good) await delay(100);
    }
  }
  return broken;
}

/** An import that was interrupted goes on by itself. */
async function imported(sender: Sender): Promise<Broken[]> {
  const until = performance.now() + IMPORTED;
  for (;;) {
    const [{ status, body }] = await sender.ask({ method: 'GET', path: `${API}/imports?limit=100` });
    const runs = (body['Results'] ?? []) as { state: string; id: string }[];
    const open = runs.filter(({ state }) => !ENDED.includes(state));
    if (status === 200 && open.length === 0) return [];
    if (performance.now() > until)
      return open.map(({ id, state }) => ({ promise: 'imports go on', text: `run ${id} is still ${state}` }));
    await delay(250);
  }
}

function effectsOf(history: History): Record<string, number> {
  const effects: Record<string, number> = {};
  for (const entry of history.entries) {
    if (!('call' in entry)) continue;
    effects[entry.call.effect] = (effects[entry.call.effect] ?? 0) + 1;
  }
  return effects;
}
