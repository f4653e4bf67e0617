import { api, unwrap } from '../../api/client.js';
import type { components } from '../../api/generated.js';
import { WAITING, loadRuns } from '../import/runs.js';

export type Statistics = components['schemas']['StatisticsDto'];
export type Day = components['schemas']['DayDto'];

const DAYS = 30;
const MAX_WAITING = 10;

export type Overview = Awaited<ReturnType<typeof loadOverview>>;

/** Loads the statistics, and the newest imports that wait for a decision, at most ten. */
export async function loadOverview(signal: AbortSignal) {
  const utcHours = Math.trunc(-new Date().getTimezoneOffset() / 60); // the API requires whole hours
  const [statistics, waiting] = await Promise.all([
    unwrap(
      api.GET('/api/0.3/statistics', { params: { query: { days: DAYS, utc_offset: utcHours } }, signal }),
    ),
    loadRuns(new URLSearchParams({ state: WAITING }), signal),
  ]);
  return { statistics: statistics.data, waiting: waiting.rows.slice(0, MAX_WAITING) };
}
