import { api, unwrap, getNextCursor } from '../../api/client.js';
import type { components, paths } from '../../api/generated.js';
import { findId } from '../../api/users.js';
import { toUtc } from '../../parts/filters.js';

export type Event = components['schemas']['AuditEventDto'];
export type Seal = components['schemas']['AuditSealDto'];
type Query = NonNullable<paths['/api/0.3/audit']['get']['parameters']['query']>;

const PAGE = 50;
/** Filters of the page, with the names of the API. */
const FILTERS = ['action', 'actor', 'actor_kind', 'target', 'field', 'since', 'until'] as const;
/** Filters that accept a user name. */
const NAME_FILTERS = ['actor', 'target'] as const;

/** Converts the query of the page to a query of the API. Times are local. */
function toQuery(page: URLSearchParams): Query {
  const set = FILTERS.map((name) => [name, page.get(name) ?? ''] as const).filter(
    ([, value]) => value !== '',
  );
  const sent = set.map(([name, value]) => [name, /^(since|until)$/.test(name) ? toUtc(value) : value]);
  return Object.fromEntries(sent) as Query;
}

export interface Events {
  count: number;
  isExact: boolean;
  events: Event[];
  next: string;
  /** Download URL of all events in the list. */
  file: string;
  /** Filter with an text that does not find exactly one user. */
  unknown?: string;
}

export async function loadEvents(page: URLSearchParams, signal: AbortSignal): Promise<Events> {
  const query = toQuery(page);
  for (const party of NAME_FILTERS) {
    const typed = query[party];
    if (typed === undefined) continue;
    const id = await findId(typed, signal);
    if (id === undefined) return { count: 0, isExact: true, events: [], next: '', file: '', unknown: party };
    query[party] = id;
  }
  const after = page.get('after');
  const pageQuery = { ...query, limit: PAGE, ...(after && { after }) };
  const { data, headers } = await unwrap(api.GET('/api/0.3/audit', { params: { query: pageQuery }, signal }));
  return {
    count: data.Count,
    isExact: data.CountIsExact,
    events: data.Results,
    next: getNextCursor(headers),
    file: `/api/0.3/audit.csv?${new URLSearchParams(query as Record<string, string>).toString()}`,
  };
}

/** Loads the newest seal. @returns undefined if there is none yet. */
export async function loadSeal(signal: AbortSignal): Promise<Seal | undefined> {
  const params = { query: { limit: 1 } };
  return (await unwrap(api.GET('/api/0.3/audit/seals', { params, signal }))).data.Results[0];
}
