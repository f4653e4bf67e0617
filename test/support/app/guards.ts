import { GUARDS } from '../../../src/import/guards/guard-table.js';
import { isPercent, toSettingName } from '../../../src/import/guards/guard-limits.js';

/** Settings under which only the guards of lost and regained access stop an import. They are for tests of other rules. */
export const LAX_GUARDS: Readonly<Record<string, string>> = Object.fromEntries(
  GUARDS.filter(({ name }) => name !== 'deactivations' && name !== 'reactivations').flatMap(
    ({ name, limits }) =>
      Object.keys(limits).map((limit) => [toSettingName(name, limit), isPercent(limit) ? '100' : '1000']),
  ),
);
