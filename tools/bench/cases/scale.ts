import type { User } from '../../../src/users/model/user.js';
import { Service } from '../faults/servers.js';
import type { Contender } from '../support/load.js';
import { externalIdOf, usernameOf } from '../support/person.js';
import { HEADERS, type RequestOf } from '../support/requests.js';
import type { Comparison } from '../support/results.js';
import { compare, inTurns } from '../support/rounds.js';
import { seed } from '../support/seed.js';
import type { Context } from './context.js';

const SMALL = 1000;
const PAGE = 25;
/** Requests that cost twice as much fit half as often into a second of CPU. */
const GOAL = 0.5;
/** Pages to walk at one depth. */
const STEPS = 15;
const SEARCH = '/api/0.3/users/search';
const WALK = `${SEARCH}?sort=firstname&order=asc&limit=${PAGE}`;

/** The same requests to a service with few and to one with many users. */
export interface ScaleCase {
  title: string;
  /** Paths requested in turn, for a database with this many users. */
  paths: (url: string, users: number) => Promise<string[]>;
  /** Fewer connections for slow answers. */
  connections?: number;
}

const depths = { start: 0, middle: 0.5, end: 0.9 } as const;
const offsetAt = (users: number, share: number, step = 0): number => Math.floor(users * share) + step * PAGE;
/** The shortest interval for slow answers. */
const SLOW_SECONDS = 6;
/** A tenth of the users from a depth on, page by page: a walk jumps to its first page once. */
const stepsOf = (users: number): number => Math.floor((users * 0.1) / PAGE);

const byCursor = Object.entries(depths).map(([name, share]): ScaleCase => ({
  title: `page and Count, walk by cursor, ${name}`,
  paths: async (url, users) => {
    const paths = [`${WALK}&offset=${offsetAt(users, share)}`];
    while (paths.length < Math.min(STEPS, stepsOf(users))) paths.push(await nextOf(url, paths.at(-1) ?? ''));
    return paths.slice(1);
  },
}));

const byOffset = Object.entries(depths).map(([name, share]): ScaleCase => ({
  title: `page and Count, walk by offset, ${name}`,
  paths: async (_url, users) =>
    Array.from({ length: stepsOf(users) }, (_, step) => `${WALK}&offset=${offsetAt(users, share, step)}`),
  connections: 2,
}));

const byFilter = Object.entries({
  'external id': (n: number) => `external_id=${externalIdOf(n)}`,
  username: (n: number) => `username=${usernameOf(n)}`,
  'e-mail': (n: number) => `email=${usernameOf(n)}@example.org`,
  'login name': (n: number) => `authname=saml:${usernameOf(n)}@idp.example.org`,
  status: () => 'status=Active',
}).map(([name, query]): ScaleCase => ({
  title: `exact filter, ${name}`,
  paths: async (_url, users) =>
    Array.from({ length: 1000 }, () => `${SEARCH}?${query(Math.floor(Math.random() * users))}`),
}));

/** The target of the `Link` header of an answer. */
async function nextOf(url: string, path: string): Promise<string> {
  const answer = await fetch(`${url}${path}`, { headers: HEADERS });
  const next = /<([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1];
  if (next === undefined) throw new Error(`${path}: ${answer.status}, and no next page`);
  return next;
}

/** The searches over REST. */
const SEARCHES: readonly ScaleCase[] = [...byCursor, ...byOffset, ...byFilter];

/** The cost of lists with many users compared to few, in CPU of the service and of its database. */
export async function compareScales(
  context: Omit<Context, 'url' | 'users'>,
  large: number,
  cases: readonly ScaleCase[] = SEARCHES,
  make?: (n: number) => User,
): Promise<Comparison[]> {
  const { engine, cores, effort, say } = context;
  const services: { service: Service; users: number }[] = [];
  try {
    for (const users of [large, SMALL]) {
      const url = engine.create(`users_${users}`);
      await seed(
        url,
        users,
        (done) => {
          if (done % 100_000 === 0) say(`${done} users`);
        },
        make,
      );
      const settings = { DATABASE_URL: url, LOG_LEVEL: 'info' };
      services.push({ service: await Service.make(settings, undefined, cores.server), users });
    }
    const comparisons: Comparison[] = [];
    for (const { title, paths, connections } of cases) {
      const contenders: Contender[] = [];
      const lists: string[][] = [];
      for (const { service, users } of services) {
        lists.push(await paths(service.url, users));
        contenders.push({
          name: `${users} users`,
          url: service.url,
          pid: service.pid,
          alsoCounted: engine.pids,
        });
      }
      const requests = lists.map((list): RequestOf => (n) => ({
        method: 'GET',
        path: list[n % list.length] ?? '',
      }));
      let n = 0;
      const samples = await inTurns(contenders, requests, () => n++, {
        ...effort,
        ...(connections && { connections, seconds: Math.max(effort.seconds, SLOW_SECONDS) }),
      });
      const name = `${SMALL.toLocaleString('en')} users`;
      const { service, floors } = compare([name], samples);
      say(`${title}: ${floors.map(({ ratio }) => (1 / ratio.cpu).toFixed(2)).join()} times the cost`);
      comparisons.push({
        case: title,
        engine: engine.name,
        unit: 'requests',
        service: { ...service, name: `${large.toLocaleString('en')} users` },
        floors: floors.map((floor) => ({ ...floor, goal: GOAL })),
      });
    }
    return comparisons;
  } finally {
    for (const { service } of services) await service.remove();
  }
}
