import type { FieldError } from '../../platform/common/errors.js';
import { isObject } from '../../platform/common/json.js';
import { nearest } from '../../platform/common/nearest.js';
import { GUARD_BOUNDS, isLimitName } from '../runs/guard-limits.js';

/** What is wrong with the limits of a profile, each under its name (`guards.errors.rows`). @param guards an object. */
export function guardFaults(guards: readonly [string, unknown][]): FieldError[] {
  return guards.flatMap(([name, limits]): FieldError[] => {
    const field = `guards.${name}`;
    if (!isLimitName(name)) return [unknown(field, 'is not a guard with limits', name, GUARD_BOUNDS)];
    const bounds = new Map(Object.entries<readonly [number, number]>(GUARD_BOUNDS[name]));
    if (!isObject(limits)) {
      const message = `must be an object with ${[...bounds.keys()].join(', ')}`;
      return [{ field, code: 'invalid_type', message }];
    }
    return Object.entries(limits).flatMap(([limit, value]) => {
      const bound = bounds.get(limit);
      const place = `${field}.${limit}`;
      if (!bound) return [unknown(place, `is not a limit of ${name}`, limit, GUARD_BOUNDS[name])];
      const [least, most] = bound;
      const fits = typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
      const message = `must be an integer from ${least} to ${most}`;
      return fits ? [] : [{ field: place, code: 'invalid_value', message }];
    });
  });
}

/** With the name that was probably meant, or all that there are. */
function unknown(field: string, what: string, name: string, names: object): FieldError {
  const known = Object.keys(names);
  const meant = nearest(name, known);
  const hint = meant === undefined ? `there are ${known.join(', ')}` : `did you mean ${meant}?`;
  return { field, code: 'unknown_field', message: `${what}; ${hint}` };
}

/** How OpenAPI describes the limits. */
export const guardProperties = () =>
  Object.fromEntries(
    Object.entries(GUARD_BOUNDS).map(([name, bounds]) => {
      const limits = Object.entries<readonly [number, number]>(bounds).map(
        ([limit, [minimum, maximum]]) => [limit, { type: 'integer' as const, minimum, maximum }] as const,
      );
      return [name, { type: 'object' as const, properties: Object.fromEntries(limits) }];
    }),
  );
