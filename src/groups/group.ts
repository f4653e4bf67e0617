import type { FieldChange } from '../platform/common/field-changes.js';
import { fromJson, isEmptyValue, toJson } from '../platform/common/json.js';
import { toLoginKey } from '../users/model/comparison-keys.js';
import type { GroupEntity } from './group.entity.js';

// Maximum lengths, in characters.
export const MAX_GROUP_NAME = 255;
export const MAX_GROUP_EXTERNAL_ID = 255;

/** A group. It does not contain the members, because their number is unlimited. */
export interface Group extends Omit<GroupEntity, 'display_name_key' | 'external_id' | 'roles'> {
  /** Empty for a group without an external id. */
  external_id: string;
  /** Roles that each member of the group gets, in the order of the role catalogue. */
  roles: readonly string[];
}

export type NamedGroup = Pick<Group, 'uuid' | 'display_name'>;

const FIELDS = ['display_name', 'external_id', 'roles'] as const;
export type GroupFields = Partial<Pick<Group, (typeof FIELDS)[number]>>;

export type GroupRow = Omit<GroupEntity, 'display_name_key'>;

export function toGroup(row: GroupRow): Group {
  return { ...row, external_id: row.external_id ?? '', roles: row.roles === null ? [] : fromJson(row.roles) };
}

export function toGroupRow(group: Group): GroupEntity {
  return {
    ...group,
    display_name_key: toLoginKey(group.display_name),
    external_id: group.external_id === '' ? null : group.external_id,
    roles: group.roles.length === 0 ? null : toJson(group.roles),
  };
}

export function diffGroups(before: Group | undefined, after: Group | undefined): FieldChange[] {
  const fields = FIELDS.map((field) => ({ field, old: valueOf(before, field), new: valueOf(after, field) }));
  return fields.filter((change) => JSON.stringify(change.old) !== JSON.stringify(change.new));
}

function valueOf(group: Group | undefined, field: (typeof FIELDS)[number]): unknown {
  const value = group?.[field];
  return isEmptyValue(value) ? null : value;
}
