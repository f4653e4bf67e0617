import type { SchemaDefinition } from '../protocol/attribute.js';
import { ENTERPRISE_SCHEMA, ROLLCALL_USER_SCHEMA } from '../protocol/urns.js';
import { MOST } from '../../users/model/formats.js';
import { COLUMN, complex, flag, text } from './attributes.js';

export const ENTERPRISE: SchemaDefinition = {
  urn: ENTERPRISE_SCHEMA,
  name: 'EnterpriseUser',
  description: 'Enterprise User',
  attributes: [
    text('employeeNumber', 'The number of the employee.'),
    text('costCenter', 'The name of the cost centre.'),
    text('organization', 'The name of the organisation.'),
    text('division', 'The name of the division.'),
    text('department', 'The name of the department.'),
    complex('manager', 'The manager of the user.', [
      text('value', 'The id of the manager; a text that is the id of no user is kept.', {
        caseExact: true,
        compare: 'uuid',
      }),
      text('$ref', 'The URL of the manager, when it is a user.', {
        type: 'reference',
        referenceTypes: ['User'],
        mutability: 'readOnly',
      }),
    ]),
  ],
};

const ON_REQUEST = { mutability: 'readOnly', returned: 'request' } as const;
const link = (network: string) =>
  text(network, `The URL of the user's page.`, {
    type: 'reference',
    referenceTypes: ['external'],
    ...COLUMN,
  });

export const ROLLCALL_USER: SchemaDefinition = {
  urn: ROLLCALL_USER_SCHEMA,
  name: 'RollcallUser',
  description: 'Rollcall User',
  attributes: [
    complex(
      'authname',
      'The names by which login methods know the user.',
      [
        text('method', 'The login method.', {
          canonicalValues: ['saml', 'oidc', 'ldap'],
          required: true,
          ...COLUMN,
        }),
        text('value', 'The name.', { caseExact: true, required: true }),
      ],
      { multiValued: true, maxItems: MOST.methods * MOST.namesOfMethod },
    ),
    text('aboutMe', 'What the users write about themselves.', COLUMN),
    complex('socialMedia', 'Pages in social networks.', ['facebook', 'linkedin', 'twitter'].map(link)),
    flag('hideEmail', 'Whether other members do not see the e-mail address.'),
    flag('hidePhoneNumbers', 'Whether other members do not see the phone numbers.'),
    complex('groupRoles', 'The roles that groups give.', [text('value', 'The name of the role.')], {
      multiValued: true,
      ...ON_REQUEST,
    }),
    text('managedBy', 'The data set that manages the user, or scim.', ON_REQUEST),
    text('lastAccess', 'When the user was last here.', { type: 'dateTime', ...ON_REQUEST }),
  ],
};
