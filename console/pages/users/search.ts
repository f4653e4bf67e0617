import { type ListPage, type User, api, loadPage } from '../../api/client.js';
import type { paths } from '../../api/generated.js';

type Query = NonNullable<paths['/api/0.3/users/search']['get']['parameters']['query']>;

const PAGE = 50;

/** Parameters with the same names and values on the page and in the API. */
const PASSED = ['status', 'role', 'managed_by', 'manager_uuid', 'sort', 'order', 'after'];

/** Converts the query of the page to a query of the API. */
export function toQuery(page: URLSearchParams): Query {
  const [text, external] = [page.get('q')?.trim(), page.get('linked')];
  const passed = PASSED.map((name) => [name, page.get(name)]).filter(([, value]) => value);
  return {
    ...(text && { find: text }),
    ...(external && { has_external_id: external === 'yes' }),
    ...(Object.fromEntries(passed) as Query),
  };
}

export function searchUsers(
  page: URLSearchParams,
  signal: AbortSignal,
  limit = PAGE,
): Promise<ListPage<User>> {
  const params = { query: { ...toQuery(page), limit } };
  return loadPage(api.GET('/api/0.3/users/search', { params, signal }));
}

export type Filters = ReturnType<typeof toFilters>;

/** Returns the conditions that all users in the list meet. */
export function toFilters(page: URLSearchParams) {
  const { sort: _sort, order: _order, after: _after, ...filters } = toQuery(page);
  return Object.keys(filters).length > 0 ? filters : { status: ALL_STATUSES };
}
const ALL_STATUSES: User['status'][] = ['Active', 'Blocked'];

/** Returns the URL of the export of all users that meet the conditions, for Webmasters. */
export function getExportUrl(conditions: object): string {
  const query = new URLSearchParams({ all: 'true' });
  for (const [name, value] of Object.entries(conditions))
    for (const each of [value].flat()) query.append(name, String(each));
  return `/api/0.3/users/export.csv?${query.toString()}`;
}
