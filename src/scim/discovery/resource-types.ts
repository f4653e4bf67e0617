import type { ResourceDescription } from '../protocol/attribute.js';
import { RESOURCE_TYPE_SCHEMA } from '../protocol/urns.js';

const DESCRIPTION = { User: 'User Account', Group: 'Group' } as const;

/** A type of resource as `/ResourceTypes` shows it (RFC 7643 §6). @param base the absolute URL of `/scim/v2`. */
export function resourceTypeView(resource: ResourceDescription, base: string) {
  return {
    schemas: [RESOURCE_TYPE_SCHEMA],
    id: resource.name,
    name: resource.name,
    endpoint: resource.endpoint,
    description: DESCRIPTION[resource.name],
    schema: resource.schema.urn,
    schemaExtensions: resource.extensions.map(({ urn }) => ({ schema: urn, required: false })),
    meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${resource.name}` },
  };
}
