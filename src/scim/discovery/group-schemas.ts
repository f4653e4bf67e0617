import type { SchemaDefinition } from '../protocol/attribute.js';
import { GROUP_SCHEMA, ROLLCALL_GROUP_SCHEMA } from '../protocol/urns.js';
import { COLUMN, complex, text } from './attributes.js';

export const GROUP: SchemaDefinition = {
  urn: GROUP_SCHEMA,
  name: 'Group',
  description: 'Group',
  attributes: [
    text('displayName', 'The name of the group.', {
      required: true,
      uniqueness: 'server',
      compare: 'login',
      ...COLUMN,
    }),
    complex(
      'members',
      'The users that are members.',
      [
        text('value', 'The id of the user.', { mutability: 'immutable', caseExact: true, compare: 'uuid' }),
        text('$ref', 'The URL of the user.', {
          type: 'reference',
          referenceTypes: ['User'],
          mutability: 'readOnly',
        }),
      ],
      { multiValued: true, maxItems: Infinity },
    ),
  ],
};

/** @param roles the roles that SCIM offers: the catalogue without Webmaster. */
export const rollcallGroup = (roles: readonly string[]): SchemaDefinition => ({
  urn: ROLLCALL_GROUP_SCHEMA,
  name: 'RollcallGroup',
  description: 'Rollcall Group',
  attributes: [
    complex(
      'roles',
      'The roles that members have beside their own.',
      [text('value', 'The name of the role.', { canonicalValues: roles })],
      { multiValued: true },
    ),
  ],
});
