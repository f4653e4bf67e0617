import { ProblemError } from '../../platform/common/errors.js';
import type { Attribute } from '../protocol/attribute.js';
import { namedValues } from '../protocol/filter-match.js';
import type { Filter } from '../protocol/filter.js';
import type { PatchStep } from '../protocol/read-patch.js';
import { valuesOf } from './group.mapping.js';
import { MemberChange } from '../../groups/member-change.js';

/** The steps of a PATCH: those of members, which are made without a look at the members that stay, and the others. */
export interface GroupSteps {
  ofMembers: readonly PatchStep[];
  others: readonly PatchStep[];
}

export function separated(steps: readonly PatchStep[], members: Attribute | undefined): GroupSteps {
  const isOfMembers = ({ target }: PatchStep): boolean => target.attribute === members;
  return { ofMembers: steps.filter(isOfMembers), others: steps.filter((step) => !isOfMembers(step)) };
}

/** What a filter in a path needs to know of the members that a group has. */
export interface KnownMembers {
  /** Which of these ids are members. */
  among(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** Those of the members, and of `more`, that a filter of elements chooses. @throws ProblemError `too_many`. */
  chosen(filter: Filter, more: ReadonlySet<string>): Promise<readonly string[]>;
}

/**
 * The steps in their order. Members are looked up only for a filter: by key for `value eq "…"`, all of them for any other.
 * @throws ProblemError `no_target`; what `known` throws.
 */
export async function memberChange(steps: readonly PatchStep[], known: KnownMembers): Promise<MemberChange> {
  const change = new MemberChange();
  for (const { op, target, value } of steps) {
    const ids = valuesOf(value);
    const { filter } = target;
    if (filter) await applyChosen(change, op, ids, filter, known);
    else if (op === 'add') change.add(ids);
    else if (op === 'replace') change.replace(ids);
    else if (value === undefined) change.replace([]);
    else change.remove(ids);
  }
  return change;
}

/** A member is an id and nothing more: to replace it is to put others in its place. */
async function applyChosen(
  change: MemberChange,
  op: PatchStep['op'],
  ids: readonly string[],
  filter: Filter,
  known: KnownMembers,
): Promise<void> {
  const named = namedValues(filter)?.map((id) => id.toLowerCase());
  if (op === 'remove' && named) {
    change.remove(named);
    return;
  }
  const chosen = named ? await membersAmong(change, named, known) : await known.chosen(filter, change.added);
  const there = chosen.filter((id) => change.keeps(id));
  if (op !== 'remove' && there.length === 0)
    throw new ProblemError('no_target', 'No element of members satisfies the filter of the path.');
  if (op !== 'add') change.remove(there);
  change.add(ids);
}

/** Those who are members, or become members by the steps before. */
async function membersAmong(
  change: MemberChange,
  ids: readonly string[],
  known: KnownMembers,
): Promise<string[]> {
  const members = await known.among(ids);
  return ids.filter((id) => members.has(id) || change.added.has(id));
}
