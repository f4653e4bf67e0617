import { api, ask, nextOf } from '../../api/client.js';
import type { components, paths } from '../../api/generated.js';

export type Event = components['schemas']['AuditEventDto'];
type Query = NonNullable<paths['/api/0.3/audit']['get']['parameters']['query']>;

const PAGE = 50;
/** Filters of the page, which are those of the service. */
const FILTERS = ['action', 'actor', 'actor_kind', 'target', 'field', 'since', 'until'] as const;

/** The query of the service for the query of the page; times of a form are those of the reader's zone. */
function queryOf(page: URLSearchParams): Query {
  const set = FILTERS.map((name) => [name, page.get(name) ?? ''] as const).filter(
    ([, value]) => value !== '',
  );
  const sent = set.map(([name, value]) => [
    name,
    /^(since|until)$/.test(name) ? new Date(value).toISOString() : value,
  ]);
  return Object.fromEntries(sent) as Query;
}

export async function loadEvents(page: URLSearchParams, signal: AbortSignal) {
  const after = page.get('after');
  const query = { ...queryOf(page), limit: PAGE, ...(after && { after }) };
  const { data, headers } = await ask(api.GET('/api/0.3/audit', { params: { query }, signal }));
  return { count: data.Count, isExact: data.CountIsExact, events: data.Results, next: nextOf(headers) };
}

/** The address of all events that the page lists, as a file. */
export const fileOf = (page: URLSearchParams): string =>
  `/api/0.3/audit.csv?${new URLSearchParams(queryOf(page) as Record<string, string>).toString()}`;
