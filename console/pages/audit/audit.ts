import { api, ask, nextOf } from '../../api/client.js';
import type { components, paths } from '../../api/generated.js';

export type Event = components['schemas']['AuditEventDto'];
export type Seal = components['schemas']['AuditSealDto'];
type Query = NonNullable<paths['/api/0.3/audit']['get']['parameters']['query']>;

const PAGE = 50;
/** Filters of the page, which are those of the service. */
const FILTERS = ['action', 'actor', 'actor_kind', 'target', 'field', 'since', 'until'] as const;
/** Those by which a user may be named. */
const PARTIES = ['actor', 'target'] as const;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A day begins at midnight of the reader's zone. What is no time is for the service to refuse. */
function momentOf(value: string): string {
  const date = new Date(/^\d{4}-\d\d-\d\d$/.test(value) ? `${value}T00:00` : value);
  return Number.isNaN(date.getTime()) ? value : date.toISOString();
}

/** The query of the service for the query of the page; times of a form are those of the reader's zone. */
function queryOf(page: URLSearchParams): Query {
  const set = FILTERS.map((name) => [name, page.get(name) ?? ''] as const).filter(
    ([, value]) => value !== '',
  );
  const sent = set.map(([name, value]) => [name, /^(since|until)$/.test(name) ? momentOf(value) : value]);
  return Object.fromEntries(sent) as Query;
}

/** The id for what was typed: an id, or the username of a user. undefined where nobody has it. */
async function idOf(typed: string, signal: AbortSignal): Promise<string | undefined> {
  if (UUID.test(typed)) return typed;
  const params = { query: { username: typed, limit: 1 } };
  return (await ask(api.GET('/api/0.3/users/search', { params, signal }))).data.Results[0]?.uuid;
}

/** The moment as a field for local times has it. */
export function localOf(value: string): string {
  const millis = Date.parse(/^\d{4}-\d\d-\d\d$/.test(value) ? `${value}T00:00` : value);
  if (Number.isNaN(millis)) return '';
  const shift = new Date(millis).getTimezoneOffset() * 60_000;
  return new Date(millis - shift).toISOString().slice(0, 16);
}

export interface Events {
  count: number;
  isExact: boolean;
  events: Event[];
  next: string;
  /** The address of all events that the page lists, as a file. */
  file: string;
  /** The filter whose name nobody has. */
  unknown?: string;
}

export async function loadEvents(page: URLSearchParams, signal: AbortSignal): Promise<Events> {
  const wanted = queryOf(page);
  for (const party of PARTIES) {
    const typed = wanted[party];
    if (typed === undefined) continue;
    const id = await idOf(typed, signal);
    if (id === undefined) return { count: 0, isExact: true, events: [], next: '', file: '', unknown: party };
    wanted[party] = id;
  }
  const after = page.get('after');
  const query = { ...wanted, limit: PAGE, ...(after && { after }) };
  const { data, headers } = await ask(api.GET('/api/0.3/audit', { params: { query }, signal }));
  return {
    count: data.Count,
    isExact: data.CountIsExact,
    events: data.Results,
    next: nextOf(headers),
    file: `/api/0.3/audit.csv?${new URLSearchParams(wanted as Record<string, string>).toString()}`,
  };
}

/** The newest seal; undefined on a service of less than an hour. */
export async function loadSeal(signal: AbortSignal): Promise<Seal | undefined> {
  const params = { query: { limit: 1 } };
  return (await ask(api.GET('/api/0.3/audit/seals', { params, signal }))).data.Results[0];
}
