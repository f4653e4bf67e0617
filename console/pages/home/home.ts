import { type Run, api, ask } from '../../api/client.js';
import type { components } from '../../api/generated.js';

export type Statistics = components['schemas']['StatisticsDto'];
export type Day = components['schemas']['DayDto'];

const DAYS = 30;
const WAITING = 10;

export interface Overview {
  statistics: Statistics;
  /** The newest imports that wait for a decision, at most ten. */
  waiting: Run[];
}

/** Returns the local UTC offset in whole hours, as the API requires. */
const offset = (): number => Math.trunc(-new Date().getTimezoneOffset() / 60);

/** Loads all data of the home page in parallel. */
export async function loadOverview(signal: AbortSignal): Promise<Overview> {
  const [statistics, waiting] = await Promise.all([
    ask(api.GET('/api/0.3/statistics', { params: { query: { days: DAYS, utc_offset: offset() } }, signal })),
    ask(
      api.GET('/api/0.3/imports', {
        params: { query: { state: ['needs_approval', 'planned'], limit: WAITING } },
        signal,
      }),
    ),
  ]);
  return { statistics: statistics.data, waiting: waiting.data.Results };
}
