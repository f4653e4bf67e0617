import { type Run, api, unwrap } from '../../api/client.js';
import type { components } from '../../api/generated.js';
import { WAITING, loadRuns } from '../import/runs.js';

export type Statistics = components['schemas']['StatisticsDto'];
export type Day = components['schemas']['DayDto'];

const DAYS = 30;
const MAX_WAITING = 10;

export interface Overview {
  statistics: Statistics;
  /** The newest imports that wait for a decision, at most ten. */
  waiting: Run[];
}

/** Returns the local UTC offset in whole hours, as the API requires. */
const getUtcOffset = (): number => Math.trunc(-new Date().getTimezoneOffset() / 60);

/** Loads all data of the home page in parallel. */
export async function loadOverview(signal: AbortSignal): Promise<Overview> {
  const days = { days: DAYS, utc_offset: getUtcOffset() };
  const [statistics, waiting] = await Promise.all([
    unwrap(api.GET('/api/0.3/statistics', { params: { query: days }, signal })),
    loadRuns(new URLSearchParams({ state: WAITING }), signal),
  ]);
  return { statistics: statistics.data, waiting: waiting.rows.slice(0, MAX_WAITING) };
}
