import { setTimeout as delay } from 'node:timers/promises';
import { createRandom } from '../../test/support/data/random.js';
import { createBlockedLogin, createSessionUser, useNewKey } from './clients/credentials.js';
import { ENDED, createImporter } from './clients/importer.js';
import * as users from './clients/users.js';
import type { Fault } from './faults.js';
import { readFinalState } from './final-state.js';
import { type Violation, History } from './history.js';
import { checkHistory } from './check-history.js';
import { Sender } from './sender.js';
import type { Target } from './targets.js';
import { API, ClientContext, isDone } from './world.js';

export interface CheckerOptions {
  seconds: number;
  seed: number;
  /** Called with a line of text for each fault. */
  report?: (line: string) => void;
  /** Called after all clients and faults have ended, before the final state is read. */
  beforeFinalState?: () => void;
}

export interface CheckerResult {
  broken: readonly Violation[];
  /** Number of requests, and of unsafe requests by their effect. */
  requests: number;
  effects: Readonly<Record<string, number>>;
  /** Number of times that each fault was injected, by name. */
  faults: Readonly<Record<string, number>>;
  history: History;
}

/** Longest recovery after the faults, in milliseconds. */
const RECOVERY_LIMIT = 60_000;
/** Longest wait for running imports, in milliseconds. */
const IMPORT_LIMIT = 90_000;

/** Runs clients and faults for some seconds, waits until the service has recovered, and checks the history. */
export async function runChecker(
  target: Target,
  { seconds, seed, report, beforeFinalState }: CheckerOptions,
): Promise<CheckerResult> {
  const log = report ?? (() => undefined);
  const random = createRandom(seed);
  const history = new History();
  const run = `c${seed.toString(36)}`;
  const urls = target.instances.map(({ url }) => url);
  const sender = new Sender(history, urls, run);
  let worlds = 0;
  const newWorld = (): ClientContext =>
    new ClientContext(sender, history, createRandom(seed + ++worlds * 7919), `${run}-${worlds.toString(36)}`);
  const steps = await createClients(newWorld);
  const stop = new AbortController();
  const running = steps.map((step) => repeatStep(step, random, stop.signal));
  const faults = await injectFaults(target, random, seconds * 1000, log);
  stop.abort();
  const timer = setTimeout(() => (sender.isEnding = true), 20_000);
  await Promise.all(running);
  clearTimeout(timer);
  const broken = [...(await findUnrecovered(sender, target)), ...(await findUnfinishedImports(sender))];
  beforeFinalState?.();
  const final = await readFinalState(sender);
  sender.close();
  broken.push(...checkHistory(history, final));
  return { broken, requests: history.attempts.length, effects: countEffects(history), faults, history };
}

/**
 * Creates users that several clients change, and the clients. Each client has its own random numbers, so that its
 * choices are independent of other clients.
 */
async function createClients(newWorld: () => ClientContext): Promise<users.Step[]> {
  const setup = newWorld();
  const group = async (size: number, fields: Record<string, unknown> = {}): Promise<string[]> => {
    const created: string[] = [];
    for (let count = 0; count < size; count++) created.push(await setup.createReliably(fields));
    return created;
  };
  const hot = await group(3, { about_me: '0' });
  const named = await group(5);
  const managed = await group(5);
  const toggled = await group(3);
  const pair = await group(2, { roles: ['Webmaster'] });
  await demoteOthers(setup, pair);
  const bind = (step: users.UserStep, list: readonly string[] = []): users.Step => {
    const world = newWorld();
    return () => step(world, list);
  };
  return [
    bind(users.createUser),
    bind(users.createUser),
    bind(users.countUp, hot),
    bind(users.countUp, hot),
    bind(users.countUp, hot),
    bind(users.overwrite, hot),
    bind(users.takeName, named),
    bind(users.swapName, named),
    bind(users.closeManagerCircle, managed),
    bind(users.changeStatus, toggled),
    bind(users.startWebmasterDuel, pair),
    createSessionUser(newWorld()),
    createBlockedLogin(newWorld()),
    bind(useNewKey),
    bind(users.readUsers, [...hot, ...toggled, ...managed]),
    bind(users.walkUsers),
    createImporter(newWorld()),
  ];
}

/** Takes the role Webmaster from all users except the pair, such as the first Webmaster and users of earlier runs. */
async function demoteOthers(world: ClientContext, pair: readonly string[]): Promise<void> {
  for (const { uuid } of (await world.search('role=Webmaster&limit=100', 0))?.users ?? []) {
    if (pair.includes(String(uuid))) continue;
    const { call } = await world.change(String(uuid), { roles: ['Author'] });
    if (!isDone(call)) throw new Error('a Webmaster could not be demoted');
  }
}

async function repeatStep(
  step: users.Step,
  random: (below: number) => number,
  stop: AbortSignal,
): Promise<void> {
  while (!stop.aborted) {
    await step();
    await delay(random(20));
  }
}

/**
 * Injects all faults repeatedly in random order, with pauses and sometimes two at once. Each fault is injected at least
 * once.
 * @returns the number of injections by fault.
 */
async function injectFaults(
  target: Target,
  random: (below: number) => number,
  millis: number,
  log: (line: string) => void,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const until = performance.now() + millis;
  const inject = async (fault: Fault | undefined): Promise<void> => {
    if (!fault) return;
    const began = performance.now();
    await fault.inject(random);
    counts[fault.name] = (counts[fault.name] ?? 0) + 1;
    log(`${Math.round(began)} ms: ${fault.name}, ended after ${Math.round(performance.now() - began)} ms`);
  };
  for (let left: Fault[] = []; ;) {
    await delay(500 + random(2000));
    const all = target.faults.every(({ name }) => name in counts);
    if (all && performance.now() >= until) return counts;
    if (left.length === 0) left = [...target.faults];
    const one = left.splice(random(left.length), 1)[0];
    const others = target.faults.filter(({ to }) => to !== one?.to);
    const two = random(4) === 0 ? others[random(others.length)] : undefined;
    await Promise.all([inject(one), inject(two)]);
  }
}

/** Waits until every instance is ready again without a restart. Returns the instances that are not. */
async function findUnrecovered(sender: Sender, { instances }: Target): Promise<Violation[]> {
  const broken: Violation[] = [];
  for (const instance of instances.keys()) {
    const until = performance.now() + RECOVERY_LIMIT;
    for (let isReady = false; !isReady;) {
      const [{ status }] = await sender.send({ method: 'GET', path: '/health/ready', instance });
      isReady = status === 200;
      if (!isReady && performance.now() > until) {
        broken.push({
          promise: 'recovery',
          text: `instance ${instance} is not ready ${RECOVERY_LIMIT} ms after the faults`,
        });
        break;
      }
      if (!isReady) await delay(100);
    }
  }
  return broken;
}

/** Waits until all imports have ended. An interrupted import must continue by itself. */
async function findUnfinishedImports(sender: Sender): Promise<Violation[]> {
  const until = performance.now() + IMPORT_LIMIT;
  for (;;) {
    const [{ status, body }] = await sender.send({ method: 'GET', path: `${API}/imports?limit=100` });
    const runs = (body['Results'] ?? []) as { state: string; id: string }[];
    const open = runs.filter(({ state }) => !ENDED.includes(state));
    if (status === 200 && open.length === 0) return [];
    if (performance.now() > until)
      return open.map(({ id, state }) => ({ promise: 'imports end', text: `run ${id} is still ${state}` }));
    await delay(250);
  }
}

function countEffects(history: History): Record<string, number> {
  const effects: Record<string, number> = {};
  for (const entry of history.entries) {
    if (!('call' in entry)) continue;
    effects[entry.call.effect] = (effects[entry.call.effect] ?? 0) + 1;
  }
  return effects;
}
