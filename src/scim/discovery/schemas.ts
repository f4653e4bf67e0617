import { MOST } from '../../users/model/formats.js';
import type { User } from '../../users/model/user.js';
import type { AttributeDefinition, SchemaDefinition } from '../protocol/attribute.js';
import {
  ENTERPRISE_SCHEMA,
  GROUP_SCHEMA,
  ROLLCALL_GROUP_SCHEMA,
  ROLLCALL_USER_SCHEMA,
  USER_SCHEMA,
} from '../protocol/urns.js';

const CERTIFICATE = 8192;
const URL = 2048;

type More = Partial<AttributeDefinition>;

/** For attributes whose length is limited by the rules of the database column, not by this description. */
const COLUMN: More = { maxLength: Infinity };
const ON_REQUEST: More = { mutability: 'readOnly', returned: 'request' };
const READ_ONLY: More = { mutability: 'readOnly' };
const LIST: More = { multiValued: true };
const UNIQUE_NAME: More = { ...COLUMN, required: true, uniqueness: 'server', compare: 'login' };

/**
 * Maps an attribute to a field of the user. Values of writable attributes without a field are stored unchanged.
 */
const field = (name: keyof User, more: More = COLUMN): More => ({ field: name, ...more });
const referenceTo = (type: string, more: More = {}): More => ({
  type: 'reference',
  referenceTypes: [type],
  ...more,
});

const text = (name: string, description: string, more: More = {}): AttributeDefinition => ({
  name,
  description,
  ...more,
});

const flag = (name: string, description: string, more: More = {}): AttributeDefinition =>
  text(name, description, { type: 'boolean', ...more });

const complex = (
  name: string,
  description: string,
  subAttributes: readonly AttributeDefinition[],
  more: More = {},
): AttributeDefinition => text(name, description, { type: 'complex', subAttributes, ...more });

const qualifiers = (types: readonly string[]): AttributeDefinition[] => [
  text('display', 'A human-readable name of the value.'),
  text('type', 'The purpose of the value.', { canonicalValues: types }),
  flag('primary', 'True for the preferred value. At most one element is primary.'),
];

/** Defines a list of `{value, display, type, primary}` (RFC 7643 §2.4). */
const plural = (
  name: string,
  description: string,
  types: readonly string[],
  value: More = {},
  more: More = {},
): AttributeDefinition =>
  complex(name, description, [text('value', 'The value.', value), ...qualifiers(types)], {
    ...LIST,
    ...more,
  });

const roleList = (name: string, description: string, value: More, more: More = {}): AttributeDefinition =>
  complex(name, description, [text('value', 'The name of the role.', value)], { ...LIST, ...more });

/** Common attributes of all resources, which are not part of any schema (RFC 7643 §3.1). */
export const COMMON: readonly AttributeDefinition[] = [
  text('schemas', 'The URNs of the schemas that the resource uses.', {
    ...referenceTo('uri'),
    ...LIST,
    ...READ_ONLY,
    returned: 'always',
  }),
  text('id', 'The id of the resource, assigned by the service.', {
    ...READ_ONLY,
    returned: 'always',
    uniqueness: 'server',
    caseExact: true,
    compare: 'uuid',
  }),
  text('externalId', 'The id of the resource at the identity provider.', {
    ...field('external_id'),
    caseExact: true,
    uniqueness: 'server',
  }),
  complex(
    'meta',
    'Metadata of the resource.',
    [
      text('resourceType', 'The resource type.'),
      text('created', 'When the resource was created.', { type: 'dateTime' }),
      text('lastModified', 'When the resource was last changed.', { type: 'dateTime' }),
      text('location', 'The URL of the resource.', referenceTo('uri')),
      text('version', 'The version of the resource, as in its ETag.', { caseExact: true }),
    ],
    READ_ONLY,
  ),
];

/** @param roles the roles available in SCIM: all roles except Webmaster. */
export const userSchema = (roles: readonly string[]): SchemaDefinition => ({
  urn: USER_SCHEMA,
  name: 'User',
  description: 'User Account',
  attributes: [
    text('userName', 'The name that the user logs in with.', field('username', UNIQUE_NAME)),
    complex('name', 'The parts of the name.', [
      text('formatted', 'The full name, as displayed.'),
      text('familyName', 'The surname.', field('surname')),
      text('givenName', 'The first name.', field('firstname')),
      text('middleName', 'The middle names.', field('middle_name')),
      text('honorificPrefix', 'The prefix of the name, such as Dr.'),
      text('honorificSuffix', 'The suffix of the name, such as III.'),
    ]),
    text('displayName', 'The display name of the user.', { compare: 'login' }),
    text('nickName', 'The name by which the user is known.', field('known_as')),
    text('profileUrl', 'The URL of a page about the user.', referenceTo('external')),
    text('title', 'The job title, such as Vice President.'),
    text('userType', 'The relation of the user to the organisation, such as Employee.'),
    text('preferredLanguage', 'The language that the user prefers, as in Accept-Language.'),
    text('locale', 'The locale of dates and numbers, such as en-GB.'),
    text('timezone', 'The time zone, such as Europe/Paris.'),
    flag('active', 'True if the user may log in.', field('status', {})),
    text('password', 'The password. It is never returned.', {
      ...COLUMN,
      mutability: 'writeOnly',
      returned: 'never',
      caseExact: true,
    }),
    plural(
      'emails',
      'E-mail addresses.',
      ['work', 'home', 'other'],
      { compare: 'login' },
      { required: true },
    ),
    plural('phoneNumbers', 'Phone numbers.', ['work', 'home', 'mobile', 'fax', 'pager', 'other']),
    plural('ims', 'Instant messaging addresses.', 'aim gtalk icq xmpp msn skype qq yahoo'.split(' ')),
    plural('photos', 'URLs of pictures of the user.', ['photo', 'thumbnail'], {
      ...referenceTo('external'),
      maxLength: URL,
    }),
    complex(
      'addresses',
      'Postal addresses.',
      [
        text('formatted', 'The full address, as on a label. May have several lines.'),
        text('streetAddress', 'Street and house number. May have several lines.'),
        text('locality', 'The city.'),
        text('region', 'The state or region.'),
        text('postalCode', 'The postal code.'),
        text('country', 'The two-letter country code.'),
        ...qualifiers(['work', 'home', 'other']),
      ],
      LIST,
    ),
    complex(
      'groups',
      'The groups of the user. Returned only on request.',
      [
        text('value', 'The id of the group.', { caseExact: true, compare: 'uuid' }),
        text('$ref', 'The URL of the group.', referenceTo('Group')),
        text('display', 'The displayName of the group.'),
      ],
      { ...LIST, ...ON_REQUEST },
    ),
    plural('entitlements', 'Entitlements of the user.', []),
    roleList(
      'roles',
      'The roles of the user, without the roles of groups.',
      { canonicalValues: roles },
      field('roles', {}),
    ),
    plural('x509Certificates', 'X.509 certificates, DER in base64.', [], {
      type: 'binary',
      maxLength: CERTIFICATE,
    }),
  ],
});

export const ENTERPRISE: SchemaDefinition = {
  urn: ENTERPRISE_SCHEMA,
  name: 'EnterpriseUser',
  description: 'Enterprise User',
  attributes: [
    text('employeeNumber', 'The employee number.'),
    text('costCenter', 'The name of the cost centre.'),
    text('organization', 'The name of the organisation.'),
    text('division', 'The name of the division.'),
    text('department', 'The name of the department.'),
    complex(
      'manager',
      'The manager of the user.',
      [
        text('value', 'The id of the manager. Other text is stored as it was sent.', {
          caseExact: true,
          compare: 'uuid',
        }),
        text('$ref', 'The URL of the manager, if the manager is a user.', referenceTo('User', READ_ONLY)),
      ],
      field('manager_uuid', {}),
    ),
  ],
};

const link = (network: string) =>
  text(network, `The URL of the user's page.`, referenceTo('external', COLUMN));

export const ROLLCALL_USER: SchemaDefinition = {
  urn: ROLLCALL_USER_SCHEMA,
  name: 'RollcallUser',
  description: 'Rollcall User',
  attributes: [
    complex(
      'authname',
      'The login names of the user at identity providers.',
      [
        text('method', 'The login method.', {
          ...COLUMN,
          canonicalValues: ['saml', 'oidc', 'ldap'],
          required: true,
        }),
        text('value', 'The name.', { caseExact: true, required: true }),
      ],
      field('authname', { ...LIST, maxItems: MOST.methods * MOST.namesOfMethod }),
    ),
    text('aboutMe', 'How the users describe themselves.', field('about_me')),
    complex(
      'socialMedia',
      'Pages on social networks.',
      ['facebook', 'linkedin', 'twitter'].map(link),
      field('social_media', {}),
    ),
    flag('hideEmail', 'True to hide the e-mail address from other members.', field('hide_email', {})),
    flag(
      'hidePhoneNumbers',
      'True to hide the phone numbers from other members.',
      field('hide_phone_numbers', {}),
    ),
    roleList('groupRoles', 'The roles from groups.', {}, ON_REQUEST),
    text('managedBy', 'The data set that manages the user, or scim.', ON_REQUEST),
    text('lastAccess', 'When the user was last active.', { type: 'dateTime', ...ON_REQUEST }),
  ],
};

export const GROUP: SchemaDefinition = {
  urn: GROUP_SCHEMA,
  name: 'Group',
  description: 'Group',
  attributes: [
    text('displayName', 'The name of the group.', UNIQUE_NAME),
    complex(
      'members',
      'The members of the group.',
      [
        text('value', 'The id of the user.', { mutability: 'immutable', caseExact: true, compare: 'uuid' }),
        text('$ref', 'The URL of the user.', referenceTo('User', READ_ONLY)),
      ],
      { ...LIST, maxItems: Infinity },
    ),
  ],
};

/** @param roles the roles available in SCIM: all roles except Webmaster. */
export const rollcallGroup = (roles: readonly string[]): SchemaDefinition => ({
  urn: ROLLCALL_GROUP_SCHEMA,
  name: 'RollcallGroup',
  description: 'Rollcall Group',
  attributes: [roleList('roles', 'The roles that every member gets.', { canonicalValues: roles })],
});
