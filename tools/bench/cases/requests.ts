import { Service } from '../../servers.js';
import { Baseline } from '../baselines/baseline.js';
import { assertSameWork } from '../support/same-work.js';
import { countStatements } from '../support/count-statements.js';
import type { Contender } from '../support/load.js';
import { readMemory } from '../support/meter.js';
import { externalIdOf, formsOf, usernameOf, uuidOf } from '../support/person.js';
import { record } from '../support/record.js';
import { FIRST_SERIAL, type RequestOf } from '../support/requests.js';
import type { Comparison } from '../support/results.js';
import { compare, alternate } from '../support/rounds.js';
import type { BaselinePlan } from '../support/statements.js';
import type { Context, Outcome } from './context.js';

const API = '/api/0.3';
const PAGE = 25;
/** Numbers of users that are not seeded. */
const RECORDED = 5_000_000;
const CREATED = 6_000_000;

interface RequestCase {
  title: string;
  requestOf: RequestOf;
  /** Subject of a request: a user, a position in the list, or a new user. */
  about: 'user' | 'offset' | 'new user';
  answer: BaselinePlan['answer'];
  /** Share of plain node:http to reach. */
  goal: number;
  baselines: BaselinePlan['framework'][];
}

const get = (path: string): ReturnType<RequestOf> => ({ method: 'GET', path: `${API}${path}` });

/** Requests as connectors send them, with an API key. */
export const REQUEST_CASES: Readonly<Record<string, RequestCase>> = {
  read: {
    title: 'read one user',
    requestOf: (n) => get(`/users/${uuidOf(n)}`),
    about: 'user',
    answer: 'row',
    goal: 0.6,
    baselines: ['node:http', 'express'],
  },
  search: {
    title: 'search by external id',
    requestOf: (n) => get(`/users/search?external_id=${externalIdOf(n)}`),
    about: 'user',
    answer: 'page',
    goal: 0.5,
    baselines: ['node:http', 'express'],
  },
  page: {
    title: 'page of 25 by first name, with Count',
    requestOf: (n) => get(`/users/search?sort=firstname&order=asc&limit=${PAGE}&offset=${n}`),
    about: 'offset',
    answer: 'page',
    goal: 0.5,
    baselines: ['node:http', 'express'],
  },
  update: {
    title: 'update one field',
    requestOf: (n, serial) => ({
      method: 'PUT',
      path: `${API}/users/${uuidOf(n)}`,
      body: { phone: `+44 ${serial}` },
    }),
    about: 'user',
    answer: 'row',
    goal: 0.5,
    baselines: ['node:http'],
  },
  create: {
    title: 'create a user',
    requestOf: (n, serial) => ({
      method: 'POST',
      path: `${API}/users`,
      body: {
        email: `${usernameOf(n)}@example.org`,
        external_id: externalIdOf(n),
        firstname: `N${formsOf(n)[2]}`,
        surname: `S${formsOf(n)[1]}`,
        phone: `+44 ${serial}`,
        authname: { saml: [`${usernameOf(n)}@idp.example.org`] },
        username: usernameOf(n),
      },
    }),
    about: 'new user',
    answer: 'row',
    goal: 0.5,
    baselines: ['node:http'],
  },
};

let created = CREATED;
let serial = FIRST_SERIAL + 500_000;

/** Compares the service with servers that only send the same statements to the database at `url`. */
async function compareRequests(
  id: string,
  service: Service,
  context: Context,
  url: string,
): Promise<Comparison> {
  const spec = REQUEST_CASES[id];
  if (!spec) throw new Error(`unknown case ${id}`);
  const { engine, cores, effort, users, log } = context;
  const { requestOf, about, answer } = spec;
  const next = {
    user: () => Math.floor(Math.random() * users),
    offset: () => Math.floor(Math.random() * (users - PAGE)),
    'new user': () => created++,
  }[about];
  const statements = await record(
    url,
    requestOf,
    about === 'new user' ? RECORDED : Math.floor(users / 2) + 37,
  );
  const baselines = await Promise.all(
    spec.baselines.map((framework) =>
      Baseline.create('requests', { url, framework, answer, statements }, cores.server),
    ),
  );
  try {
    for (const baseline of baselines)
      await assertSameWork(service, baseline, requestOf(next(), serial++), url);
    const contender: Contender = { name: 'service', url: service.url, pid: service.pid };
    const contenders = [
      contender,
      ...baselines.map(({ url: at, pid }, index) => ({ name: spec.baselines[index] ?? '', url: at, pid })),
    ];
    const statementsEach = await countStatements(engine, service, () => requestOf(next(), serial++));
    const samples = await alternate(contenders, requestOf, next, effort);
    const { service: measured, baselines: shares } = compare(spec.baselines, samples);
    const comparison: Comparison = {
      case: spec.title,
      engine: engine.name,
      service: { ...measured, ...(statementsEach !== undefined && { statements: statementsEach }) },
      baselines: shares.map((baseline) =>
        baseline.name === 'node:http' ? { ...baseline, goal: spec.goal } : baseline,
      ),
    };
    log(`${spec.title}: ${shares.map(({ name, ratio }) => `${ratio.cpu.toFixed(2)} of ${name}`).join(', ')}`);
    return comparison;
  } finally {
    for (const baseline of baselines) await baseline.remove();
  }
}

/** Runs several cases on one service. */
export async function compareAllRequests(ids: readonly string[], context: Context): Promise<Outcome> {
  const settings = { DATABASE_URL: context.url, LOG_LEVEL: 'info' };
  const url = context.engine.copyForBaselines(context.url);
  const service = await Service.create(settings, undefined, context.cores.server);
  try {
    const comparisons = [];
    for (const id of ids) comparisons.push(await compareRequests(id, service, context, url));
    return { comparisons, peak: readMemory(service.pid).peak };
  } finally {
    await service.remove();
  }
}
