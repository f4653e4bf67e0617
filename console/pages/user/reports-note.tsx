import { useResource } from '../../api/resource.js';
import { formatCount } from '../../lib/text.js';
import { toHref } from '../../lib/url.js';
import { searchUsers } from '../users/search.js';

/** Returns the number of direct reports of a user, or 0 without a user or while the number is loading. */
export function useReportCount(uuid: string | undefined): number {
  const search = new URLSearchParams({ manager_uuid: uuid ?? '' });
  return useResource(uuid, (signal) => searchUsers(search, signal, 1)).data?.count ?? 0;
}

/** Shows the effect of an action on the direct reports of a user, if there are any. */
export function ReportsNote({ uuid, effect }: { uuid: string; effect: string }) {
  const count = useReportCount(uuid);
  if (count === 0) return null;
  return (
    <p>
      <a href={toHref('/users', { manager_uuid: uuid })}>{formatCount(count, 'direct report')}</a> {effect}
    </p>
  );
}
