import type { FinalState } from '../final-state.js';
import type { Violation, Millis } from '../history.js';
import type { Timeline, Timelines } from '../timeline.js';

/** Returns the comparison key of a name: NFKC, with collapsed spaces and folded case. */
const toLoginKey = (name: string): string =>
  name.normalize('NFKC').trim().replace(/\s+/gu, ' ').toUpperCase().toLowerCase().normalize('NFKC');

/** Returns the comparison keys of a value of a field. */
export const keysOf = (field: string, value: unknown): string[] => {
  if (typeof value !== 'string') return [];
  return field === 'external_id' ? [`external_id ${value}`] : [`name ${toLoginKey(value)}`];
};

const NAMES = ['username', 'email', 'external_id'];

/** Returns the times after which a field of a user has certainly changed. Set rules are checked at these times. */
function listTimes(users: Iterable<Map<string, Timeline>>, fields: readonly string[]): Millis[] {
  const times = new Set<Millis>();
  for (const own of users)
    for (const field of fields)
      for (const { end } of own.get(field)?.moments ?? []) if (Number.isFinite(end)) times.add(end + 0.001);
  return [...times].toSorted((a, b) => a - b);
}

/** Checks that each name and external id belongs to one user, in the final state and at every time before. */
export function checkUniqueness(final: FinalState, { users }: Timelines): Violation[] {
  const broken: Violation[] = [];
  const add = (text: string): void => void broken.push({ promise: 'uniqueness', text });
  const held = new Map<string, string>();
  for (const { uuid, fields } of final.seen[0]?.users ?? []) {
    for (const key of new Set(NAMES.flatMap((field) => keysOf(field, fields[field])))) {
      const other = held.get(key);
      if (other !== undefined && other !== uuid) add(`users ${other} and ${uuid} both have the ${key}`);
      held.set(key, uuid);
    }
  }
  const moving = new Map(
    [...users].filter(([, own]) => NAMES.some((field) => (own.get(field)?.moments.length ?? 0) > 2)),
  );
  for (const at of listTimes(moving.values(), NAMES)) {
    const now = new Map<string, string>();
    for (const [user, own] of moving) {
      const keys = NAMES.flatMap((field) => keysOf(field, own.get(field)?.certainAt(at)?.value));
      for (const key of new Set(keys)) {
        const other = now.get(key);
        if (other !== undefined)
          add(`at ${Math.round(at)} ms users ${other} and ${user} both had the ${key}`);
        now.set(key, user);
      }
    }
  }
  return broken;
}

/** Checks that managers never form a circle. */
export function checkManagers(final: FinalState, { users }: Timelines): Violation[] {
  const broken: Violation[] = [];
  const add = (when: string, circle: string): void =>
    void broken.push({ promise: 'no manager circle', text: `${when}: ${circle}` });
  const end = new Map(final.seen[0]?.users.map(({ uuid, fields }) => [uuid, fields['manager_uuid']]));
  const last = findCircle(end);
  if (last) add('at the end', last);
  const moving = [...users].filter(([, own]) => (own.get('manager_uuid')?.moments.length ?? 0) > 2);
  for (const at of listTimes(
    moving.map(([, own]) => own),
    ['manager_uuid'],
  )) {
    const circle = findCircle(
      new Map(moving.map(([user, own]) => [user, own.get('manager_uuid')?.certainAt(at)?.value])),
    );
    if (circle) add(`at ${Math.round(at)} ms`, circle);
  }
  return broken;
}

function findCircle(managers: ReadonlyMap<string, unknown>): string | undefined {
  const good = new Set<unknown>();
  for (const start of managers.keys()) {
    const path: unknown[] = [];
    for (let user: unknown = start; typeof user === 'string' && !good.has(user); user = managers.get(user)) {
      if (path.includes(user)) return [...path, user].join(' → ');
      path.push(user);
    }
    for (const user of path) good.add(user);
  }
  return undefined;
}

export const isActiveWebmaster = (roles: unknown, status: unknown): boolean =>
  Array.isArray(roles) && roles.includes('Webmaster') && status === 'Active';

/** Checks that at least one active Webmaster existed at every time. */
export function checkWebmasters(final: FinalState, { users }: Timelines): Violation[] {
  const broken: Violation[] = [];
  const add = (text: string): void => void broken.push({ promise: 'a Webmaster stays', text });
  const left =
    final.seen[0]?.users.filter(({ fields }) => isActiveWebmaster(fields['roles'], fields['status'])) ?? [];
  if (left.length === 0) add('no active Webmaster is left at the end');
  const ever = [...users.values()].filter((own) =>
    own.get('roles')?.moments.some(({ value }) => Array.isArray(value) && value.includes('Webmaster')),
  );
  for (const at of listTimes(ever, ['roles', 'status'])) {
    const possible = ever.some((own) => {
      const roles = own.get('roles')?.valuesDuring(at, at) ?? [];
      const statuses = own.get('status')?.valuesDuring(at, at) ?? [];
      return roles.some((some) => statuses.some((status) => isActiveWebmaster(some, status)));
    });
    if (!possible && ever.length > 0) add(`at ${Math.round(at)} ms there was no active Webmaster`);
  }
  return broken;
}
