import { type Attribute, ResourceDescription, type Schema } from '../protocol/attribute.js';
import { SCHEMA_SCHEMA } from '../protocol/urns.js';
import { COMMON } from './attributes.js';
import { GROUP, rollcallGroup } from './group-schemas.js';
import { ENTERPRISE, ROLLCALL_USER } from './user-extensions.js';
import { userSchema } from './user-schema.js';

export interface Descriptions {
  user: ResourceDescription;
  group: ResourceDescription;
}

/**
 * The types of resource. One pair for the whole process: attributes are compared by identity.
 * @param roles the roles that SCIM offers: the catalogue without Webmaster.
 */
export function describeResources(roles: readonly string[]): Descriptions {
  return {
    user: new ResourceDescription('User', '/Users', COMMON, userSchema(roles), [ENTERPRISE, ROLLCALL_USER]),
    group: new ResourceDescription('Group', '/Groups', COMMON, GROUP, [rollcallGroup(roles)]),
  };
}

/** All schemas in the order of `/Schemas`. */
export function schemasOf({ user, group }: Descriptions): Schema[] {
  const [enterprise, ...others] = user.extensions;
  return [user.schema, ...(enterprise ? [enterprise] : []), group.schema, ...others, ...group.extensions];
}

/** A schema as `/Schemas` shows it (RFC 7643 §7). @param base the absolute URL of `/scim/v2`. */
export function schemaView(schema: Schema, base: string) {
  return {
    schemas: [SCHEMA_SCHEMA],
    id: schema.urn,
    name: schema.name,
    description: schema.description,
    attributes: schema.attributes.map(attributeView),
    meta: { resourceType: 'Schema', location: `${base}/Schemas/${schema.urn}` },
  };
}

interface AttributeView {
  name: string;
  type: string;
  multiValued: boolean;
  description: string;
  required: boolean;
  canonicalValues?: readonly string[];
  caseExact?: boolean;
  mutability: string;
  returned: string;
  uniqueness?: string;
  referenceTypes?: readonly string[];
  subAttributes?: AttributeView[];
}

function attributeView(attribute: Attribute): AttributeView {
  const isComplex = attribute.type === 'complex';
  return {
    name: attribute.name,
    type: attribute.type,
    multiValued: attribute.multiValued,
    description: attribute.description,
    required: attribute.required,
    ...(attribute.canonicalValues.length > 0 && { canonicalValues: attribute.canonicalValues }),
    ...(!isComplex && attribute.type !== 'boolean' && { caseExact: attribute.caseExact }),
    mutability: attribute.mutability,
    returned: attribute.returned,
    ...(!isComplex && { uniqueness: attribute.uniqueness }),
    ...(attribute.referenceTypes.length > 0 && { referenceTypes: attribute.referenceTypes }),
    ...(isComplex && { subAttributes: attribute.subAttributes.map(attributeView) }),
  };
}
