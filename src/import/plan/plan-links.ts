import type { UserDirectory } from '../../users/directory/user-directory.service.js';
import { applyOrder } from './apply-order.js';
import { LineSet } from './line-set.js';
import type { PlanState } from './plan-state.js';
import { RowLinks } from './row-links.js';

/** Users asked for in one statement. */
const CHUNK = 500;
const MANAGER = -1;

/**
 * Judges what only the end state of the whole file can tell (interface §6): who gets a username that another row gives
 * up, managers that other rows create, circles. A row that fails keeps what it had, which may fail others, until nothing
 * new fails. @returns the rows that must wait for others, in groups that are applied together and in this order.
 */
export async function resolveLinks(state: PlanState, directory: UserDirectory): Promise<number[][]> {
  state.failRepeated();
  const links = new RowLinks();
  awaitManagers(state, links);
  awaitIdentifiers(state, links);
  await knowManagers(state, directory);
  const tell = (line: number, tag: number): void => {
    if (tag === MANAGER) state.fail(line, UNKNOWN_MANAGER);
    else failNeed(state, tag);
  };
  for (let circles = [0]; circles.length > 0;) {
    links.spread(state.failed, tell);
    state.managers.undo(state.failed);
    circles = state.managers.circles();
    for (const line of circles) state.fail(line, CIRCLE);
  }
  const all = function* () {
    yield* links.standing(state.failed);
    yield* state.managers.order();
  };
  const late = lateRows(all);
  return applyOrder(only(all(), late));
}

/** Rows that cannot keep their place in the file: what they need comes behind them, or is itself such a row. */
function lateRows(links: () => Iterable<readonly [number, number]>): LineSet {
  const late = new LineSet();
  for (let found = true; found;) {
    found = false;
    for (const [line, needed] of links()) {
      if (late.has(line) || (needed < line && !late.has(needed))) continue;
      late.add(line);
      found = true;
    }
  }
  return late;
}

function* only(
  links: Iterable<readonly [number, number]>,
  lines: LineSet,
): Generator<readonly [number, number]> {
  for (const link of links) if (lines.has(link[0])) yield link;
}

const UNKNOWN_MANAGER = {
  field: 'manager_uuid',
  code: 'unknown_reference',
  message: 'must be the ExternalId of a user or of a good row of this file',
};
const CIRCLE = { field: 'manager_uuid', code: 'cycle', message: 'may not stand below the user' };

function awaitManagers(state: PlanState, links: RowLinks): void {
  for (const [line, manager] of state.awaited()) {
    if (manager === 0) {
      state.fail(line, UNKNOWN_MANAGER);
      continue;
    }
    links.add(line, manager, MANAGER);
    state.managers.point(line, manager);
  }
}

function awaitIdentifiers(state: PlanState, links: RowLinks): void {
  for (const [index, { line, identifier }] of state.needs.entries()) {
    if (state.failed.has(line)) continue; // one reason is enough
    const giver = state.giverOf(identifier);
    if (giver === 0) failNeed(state, index);
    else links.add(line, giver, index);
  }
}

function failNeed(state: PlanState, index: number): void {
  const need = state.needs[index];
  if (!need) return;
  const { line, field, owner } = need;
  state.fail(line, { field, code: `${field}_taken`, message: `belongs to user ${owner}`, uuid: owner });
}

async function knowManagers(state: PlanState, directory: UserDirectory): Promise<void> {
  const uuids = [...state.above];
  for (let from = 0; from < uuids.length; from += CHUNK) {
    const chain = await directory.managersAbove(uuids.slice(from, from + CHUNK));
    for (const [user, manager] of chain) state.managers.know(user, manager);
  }
}
