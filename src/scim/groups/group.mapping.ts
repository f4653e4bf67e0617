import { toIso } from '../../platform/common/time.js';
import {
  type ScimObject,
  type ScimValue,
  elementsOf,
  isScimObject,
  getMember,
} from '../protocol/attribute.js';
import { GROUP_SCHEMA, ROLLCALL_GROUP_SCHEMA } from '../protocol/urns.js';
import type { Group } from '../../groups/group.js';

/**
 * Converts a group to a SCIM resource.
 * @param tag the entity tag of the group
 * @param ids ids of the members. Without them the resource has no members
 */
export function toGroupResource(group: Group, base: string, tag: string, ids: readonly string[] = []) {
  const { uuid, display_name, external_id, roles, created, updated } = group;
  return {
    schemas: [GROUP_SCHEMA, ...(roles.length > 0 ? [ROLLCALL_GROUP_SCHEMA] : [])],
    id: uuid,
    ...(external_id !== '' && { externalId: external_id }),
    displayName: display_name,
    ...(ids.length > 0 && { members: ids.map((value) => ({ value, $ref: `${base}/Users/${value}` })) }),
    ...(roles.length > 0 && { [ROLLCALL_GROUP_SCHEMA]: { roles: roles.map((value) => ({ value })) } }),
    meta: {
      resourceType: 'Group',
      created: toIso(created),
      lastModified: toIso(updated),
      location: `${base}/Groups/${uuid}`,
      version: tag,
    },
  };
}

/** The attributes of a group in a request. An attribute that the request omits is undefined. */
export interface SentGroup {
  displayName?: ScimValue | undefined;
  externalId?: ScimValue | undefined;
  roles?: string[] | undefined;
  members?: string[] | undefined;
}

export function toSentGroup(resource: ScimObject): SentGroup {
  const extension = getMember(resource, ROLLCALL_GROUP_SCHEMA);
  const roles = isScimObject(extension) ? getMember(extension, 'roles') : undefined;
  const members = getMember(resource, 'members');
  return {
    displayName: getMember(resource, 'displayName'),
    externalId: getMember(resource, 'externalId'),
    ...(roles !== undefined && { roles: listElementValues(roles) }),
    ...(members !== undefined && { members: listElementValues(members) }),
  };
}

/** Returns the `value` of each element of a list. An element that is a plain string counts as its own `value`. */
export function listElementValues(list: ScimValue | undefined): string[] {
  return elementsOf(list).flatMap((element) => {
    const value = isScimObject(element) ? getMember(element, 'value') : element;
    return typeof value === 'string' ? [value] : [];
  });
}
