import { type ListPage, api, loadPage } from '../../api/client.js';
import type { components } from '../../api/generated.js';
import { readFilters } from '../../parts/filters.js';

export type Event = components['schemas']['AuditEventDto'];

const PAGE = 50;
/** Filters of the page, with the names of the API. */
const FILTERS = ['action', 'actor', 'actor_kind', 'target', 'field', 'since', 'until'] as const;
export interface Events extends ListPage<Event> {
  /** Download URL of all events in the list. */
  file: string;
}

export async function loadEventPage(page: URLSearchParams, signal: AbortSignal): Promise<Events> {
  const { filters: query, unknown } = await readFilters(page, FILTERS, signal);
  if (unknown) return { count: 0, rows: [], next: '', file: '', unknown };
  const after = page.get('after');
  const pageQuery = { ...query, limit: PAGE, ...(after && { after }) };
  return {
    ...(await loadPage(api.GET('/api/0.3/audit', { params: { query: pageQuery }, signal }))),
    file: `/api/0.3/audit.csv?${new URLSearchParams(query as Record<string, string>).toString()}`,
  };
}
