import { toIso } from '../../platform/common/time.js';
import { etagOf } from '../../platform/http/request-headers.js';
import { type ScimObject, type ScimValue, elementsOf, isScimObject, member } from '../protocol/attribute.js';
import { GROUP_SCHEMA, ROLLCALL_GROUP_SCHEMA } from '../protocol/urns.js';
import type { Group } from '../../groups/group.js';

/**
 * Converts a group to a SCIM resource.
 * @param members ids of the members, or undefined if they are not shown
 * @param base the absolute URL of `/scim/v2`
 */
export function toGroupResource(
  group: Group,
  members: readonly string[] | undefined,
  base: string,
): ScimObject {
  const { uuid, display_name, external_id, roles, created, updated } = group;
  return {
    schemas: [GROUP_SCHEMA, ...(roles.length > 0 ? [ROLLCALL_GROUP_SCHEMA] : [])],
    id: uuid,
    ...(external_id !== '' && { externalId: external_id }),
    displayName: display_name,
    ...(members && members.length > 0 && { members: members.map((value) => memberOf(value, base)) }),
    ...(roles.length > 0 && { [ROLLCALL_GROUP_SCHEMA]: { roles: roles.map((value) => ({ value })) } }),
    meta: {
      resourceType: 'Group',
      created: toIso(created),
      lastModified: toIso(updated),
      location: `${base}/Groups/${uuid}`,
      version: etagOf(group),
    },
  };
}

const memberOf = (value: string, base: string): ScimObject => ({ value, $ref: `${base}/Users/${value}` });

/** The attributes of a group, as sent by the client. Missing attributes are undefined. */
export interface SentGroup {
  displayName?: ScimValue | undefined;
  externalId?: ScimValue | undefined;
  roles?: string[] | undefined;
  members?: string[] | undefined;
}

export function sentGroup(resource: ScimObject): SentGroup {
  const extension = member(resource, ROLLCALL_GROUP_SCHEMA);
  const roles = isScimObject(extension) ? member(extension, 'roles') : undefined;
  const members = member(resource, 'members');
  return {
    displayName: member(resource, 'displayName'),
    externalId: member(resource, 'externalId'),
    ...(roles !== undefined && { roles: valuesOf(roles) }),
    ...(members !== undefined && { members: valuesOf(members) }),
  };
}

/** Returns the `value` of each element of a list. An element may also be a plain string. */
export function valuesOf(list: ScimValue | undefined): string[] {
  return elementsOf(list).flatMap((element) => {
    const value = isScimObject(element) ? member(element, 'value') : element;
    return typeof value === 'string' ? [value] : [];
  });
}
