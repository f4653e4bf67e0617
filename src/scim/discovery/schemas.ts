import { MAX_ITEMS } from '../../users/model/formats.js';
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

type Options = Partial<AttributeDefinition>;

/** Options of an attribute whose length is checked by the rules of its user field. */
const COLUMN: Options = { maxLength: Infinity };
const ON_REQUEST: Options = { mutability: 'readOnly', returned: 'request' };
const READ_ONLY: Options = { mutability: 'readOnly' };
const USER_ID: Options = { required: true, compare: 'uuid' };
const UNIQUE_NAME: Options = { ...COLUMN, required: true, uniqueness: 'server', compare: 'login' };

/**
 * Options of an attribute that is stored in a field of the user. Other writable attributes are stored in `attributes`.
 */
const mapToField = (name: keyof User, options: Options = COLUMN): Options => ({ field: name, ...options });
const toRefOptions = (target: string, options: Options = {}): Options => {
  return { type: 'reference', referenceTypes: [target], ...options };
};

function defineAttribute(name: string, description: string, options: Options = {}): AttributeDefinition {
  return { name, description, ...options };
}

const defineFlag = (name: string, description: string, options: Options = {}): AttributeDefinition =>
  defineAttribute(name, description, { type: 'boolean', ...options });

const defineComplex = (
  name: string,
  description: string,
  options: Options,
  subAttributes: readonly AttributeDefinition[],
): AttributeDefinition => defineAttribute(name, description, { type: 'complex', subAttributes, ...options });

const defineList: typeof defineComplex = (name, description, options, subAttributes) =>
  defineComplex(name, description, { multiValued: true, ...options }, subAttributes);

const defineQualifiers = (types: readonly string[]): AttributeDefinition[] => [
  defineAttribute('display', 'A human-readable name for the value.'),
  defineAttribute('type', 'The purpose of the value.', { canonicalValues: types }),
  defineFlag('primary', 'True for the preferred value. At most one element is primary.'),
];

/** Defines an attribute that is a list of elements `{value, display, type, primary}` (RFC 7643 §2.4). */
const defineMultiValued = (
  name: string,
  description: string,
  types: readonly string[],
  value: Options = {},
  options: Options = {},
): AttributeDefinition =>
  defineList(name, description, options, [
    defineAttribute('value', 'The value.', { required: true, ...value }),
    ...defineQualifiers(types),
  ]);

const defineRoleName = (options: Options): AttributeDefinition =>
  defineAttribute('value', 'The name of the role.', { required: true, ...options });

/** Attributes that all resources have but no schema contains (RFC 7643 §3.1). */
export const COMMON: readonly AttributeDefinition[] = [
  defineAttribute('schemas', 'The URNs of the schemas that the resource uses.', {
    ...toRefOptions('uri'),
    multiValued: true,
    ...READ_ONLY,
    returned: 'always',
  }),
  defineAttribute('id', 'The id of the resource, assigned by the service.', {
    ...READ_ONLY,
    returned: 'always',
    uniqueness: 'server',
    compare: 'uuid',
  }),
  defineAttribute('externalId', 'The id of the resource at the identity provider.', {
    ...mapToField('external_id'),
    compare: 'exact',
    uniqueness: 'server',
  }),
  defineComplex('meta', 'Metadata of the resource.', READ_ONLY, [
    defineAttribute('resourceType', 'The resource type.'),
    defineAttribute('created', 'When the resource was created.', { type: 'dateTime' }),
    defineAttribute('lastModified', 'When the resource was last changed.', { type: 'dateTime' }),
    defineAttribute('location', 'The URL of the resource.', toRefOptions('uri')),
    defineAttribute('version', 'The version of the resource, as in its ETag.', { compare: 'exact' }),
  ]),
];

export const describeUser = (roles: readonly string[]): SchemaDefinition => ({
  urn: USER_SCHEMA,
  name: 'User',
  description: 'User Account',
  attributes: [
    defineAttribute('userName', 'The name that the user logs in with.', mapToField('username', UNIQUE_NAME)),
    defineComplex('name', 'The parts of the name.', {}, [
      defineAttribute('formatted', 'The full name, as displayed.'),
      defineAttribute('familyName', 'The surname.', mapToField('surname')),
      defineAttribute('givenName', 'The first name.', mapToField('firstname')),
      defineAttribute('middleName', 'The middle names.', mapToField('middle_name')),
      defineAttribute('honorificPrefix', 'The prefix of the name, such as Dr.'),
      defineAttribute('honorificSuffix', 'The suffix of the name, such as III.'),
    ]),
    defineAttribute('displayName', 'The display name of the user.', { compare: 'login' }),
    defineAttribute('nickName', 'The name that the user is usually called by.', mapToField('known_as')),
    defineAttribute('profileUrl', 'The URL of a page about the user.', toRefOptions('external')),
    defineAttribute('title', 'The job title, such as Vice President.'),
    defineAttribute('userType', 'The relation of the user to the organisation, such as Employee.'),
    defineAttribute('preferredLanguage', 'The language that the user prefers, as in Accept-Language.'),
    defineAttribute('locale', 'The locale for dates and numbers, such as en-GB.'),
    defineAttribute('timezone', 'The time zone, such as Europe/Paris.'),
    defineFlag('active', 'True if the user may log in.', mapToField('status', {})),
    defineAttribute('password', 'The password. It is never returned.', {
      ...COLUMN,
      mutability: 'writeOnly',
      returned: 'never',
      compare: 'exact',
    }),
    defineMultiValued(
      'emails',
      'E-mail addresses. Only the primary address must be unique.',
      ['work', 'home', 'other'],
      { compare: 'login', uniqueness: 'server' },
      { required: true },
    ),
    defineMultiValued('phoneNumbers', 'Phone numbers.', ['work', 'home', 'mobile', 'fax', 'pager', 'other']),
    defineMultiValued(
      'ims',
      'Instant messaging addresses.',
      'aim gtalk icq xmpp msn skype qq yahoo'.split(' '),
    ),
    defineMultiValued('photos', 'URLs of pictures of the user.', ['photo', 'thumbnail'], {
      ...toRefOptions('external'),
      maxLength: URL,
    }),
    defineList('addresses', 'Postal addresses.', {}, [
      defineAttribute('formatted', 'The full address as on a mailing label. It may have several lines.'),
      defineAttribute('streetAddress', 'The street and house number. They may have several lines.'),
      defineAttribute('locality', 'The city.'),
      defineAttribute('region', 'The state or region.'),
      defineAttribute('postalCode', 'The postal code.'),
      defineAttribute('country', 'The two-letter country code.'),
      ...defineQualifiers(['work', 'home', 'other']),
    ]),
    defineList('groups', 'The groups of the user. Returned only if `attributes` names them.', ON_REQUEST, [
      defineAttribute('value', 'The id of the group.', { compare: 'uuid' }),
      defineAttribute('$ref', 'The URL of the group.', toRefOptions('Group')),
      defineAttribute('display', 'The displayName of the group.'),
    ]),
    defineMultiValued('entitlements', 'Entitlements of the user.', []),
    defineList(
      'roles',
      'The roles of the user, without the roles that the user has through groups.',
      mapToField('roles', {}),
      [defineRoleName({ canonicalValues: roles })],
    ),
    defineMultiValued('x509Certificates', 'X.509 certificates in DER form, encoded as base64.', [], {
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
    defineAttribute('employeeNumber', 'The employee number.'),
    defineAttribute('costCenter', 'The name of the cost centre.'),
    defineAttribute('organization', 'The name of the organisation.'),
    defineAttribute('division', 'The name of the division.'),
    defineAttribute('department', 'The name of the department.'),
    defineComplex('manager', 'The manager of the user.', mapToField('manager_uuid', {}), [
      defineAttribute(
        'value',
        'The id of the manager. A value that is not the id of a user is stored unchanged.',
        USER_ID,
      ),
      defineAttribute(
        '$ref',
        'The URL of the manager, if the manager is a user.',
        toRefOptions('User', READ_ONLY),
      ),
    ]),
  ],
};

const AUTHNAME = mapToField('authname', { maxItems: MAX_ITEMS.methods * MAX_ITEMS.namesOfMethod });

const defineLink = (network: string) =>
  defineAttribute(network, `The URL of the user's profile.`, toRefOptions('external', COLUMN));

export const ROLLCALL_USER: SchemaDefinition = {
  urn: ROLLCALL_USER_SCHEMA,
  name: 'RollcallUser',
  description: 'Rollcall User',
  attributes: [
    defineList('authname', 'The login names of the user at identity providers.', AUTHNAME, [
      defineAttribute('method', 'The login method.', {
        ...COLUMN,
        canonicalValues: ['saml', 'oidc', 'ldap'],
        required: true,
      }),
      defineAttribute('value', 'The login name, unique within its method.', {
        compare: 'exact',
        required: true,
        uniqueness: 'server',
      }),
    ]),
    defineAttribute('aboutMe', 'A text in which users describe themselves.', mapToField('about_me')),
    defineComplex(
      'socialMedia',
      'Profiles on social networks.',
      mapToField('social_media', {}),
      ['facebook', 'linkedin', 'twitter'].map(defineLink),
    ),
    defineFlag(
      'hideEmail',
      'True if only the user, Webmasters and API keys can see the e-mail address.',
      mapToField('hide_email', {}),
    ),
    defineFlag(
      'hidePhoneNumbers',
      'True if only the user, Webmasters and API keys can see the phone numbers.',
      mapToField('hide_phone_numbers', {}),
    ),
    defineList('groupRoles', 'The roles that the user has through groups.', ON_REQUEST, [
      defineRoleName({ required: false }),
    ]),
    defineAttribute(
      'managedBy',
      'The data set that manages the user. The data set scim stands for an identity provider.',
      ON_REQUEST,
    ),
    defineAttribute('lastAccess', 'When the user was last active.', { type: 'dateTime', ...ON_REQUEST }),
  ],
};

export const GROUP: SchemaDefinition = {
  urn: GROUP_SCHEMA,
  name: 'Group',
  description: 'Group',
  attributes: [
    defineAttribute('displayName', 'The name of the group.', UNIQUE_NAME),
    defineList('members', 'The members of the group.', { maxItems: Infinity }, [
      defineAttribute('value', 'The id of the user.', { ...USER_ID, mutability: 'immutable' }),
      defineAttribute('$ref', 'The URL of the user.', toRefOptions('User', READ_ONLY)),
    ]),
  ],
};

export const describeGroup = (roles: readonly string[]): SchemaDefinition => ({
  urn: ROLLCALL_GROUP_SCHEMA,
  name: 'RollcallGroup',
  description: 'Rollcall Group',
  attributes: [
    defineList('roles', 'The roles that every member gets.', {}, [
      defineRoleName({ canonicalValues: roles }),
    ]),
  ],
});
