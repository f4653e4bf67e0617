import type { SchemaDefinition } from '../protocol/attribute.js';
import { USER_SCHEMA } from '../protocol/urns.js';
import { COLUMN, complex, flag, plural, qualifiers, text } from './attributes.js';

const CERTIFICATE = 8192;
const URL = 2048;

/** @param roles the roles that SCIM offers: the catalogue without Webmaster. */
export const userSchema = (roles: readonly string[]): SchemaDefinition => ({
  urn: USER_SCHEMA,
  name: 'User',
  description: 'User Account',
  attributes: [
    text('userName', 'The name that the user logs in with.', {
      required: true,
      uniqueness: 'server',
      compare: 'login',
      ...COLUMN,
    }),
    complex('name', 'The parts of the name.', [
      text('formatted', 'The whole name, as it is shown.'),
      text('familyName', 'The surname.', COLUMN),
      text('givenName', 'The first name.', COLUMN),
      text('middleName', 'The middle names.', COLUMN),
      text('honorificPrefix', 'What comes before the name, such as Dr.'),
      text('honorificSuffix', 'What comes after the name, such as III.'),
    ]),
    text('displayName', 'The name that is shown for the user.', { compare: 'login' }),
    text('nickName', 'The name that the user is known as.', COLUMN),
    text('profileUrl', 'The URL of a page about the user.', {
      type: 'reference',
      referenceTypes: ['external'],
    }),
    text('title', 'The title of the position, such as Vice President.'),
    text('userType', 'What the user is to the organisation, such as Employee.'),
    text('preferredLanguage', 'The language that the user prefers, as in Accept-Language.'),
    text('locale', 'The region whose formats the user prefers, such as en-GB.'),
    text('timezone', 'The time zone, such as Europe/Paris.'),
    flag('active', 'Whether the user may log in.'),
    text('password', 'The password; it is never returned.', {
      mutability: 'writeOnly',
      returned: 'never',
      caseExact: true,
      ...COLUMN,
    }),
    plural(
      'emails',
      'E-mail addresses.',
      ['work', 'home', 'other'],
      { compare: 'login' },
      { required: true },
    ),
    plural('phoneNumbers', 'Phone numbers.', ['work', 'home', 'mobile', 'fax', 'pager', 'other']),
    plural('ims', 'Addresses of instant messaging.', [
      'aim',
      'gtalk',
      'icq',
      'xmpp',
      'msn',
      'skype',
      'qq',
      'yahoo',
    ]),
    plural('photos', 'URLs of pictures of the user.', ['photo', 'thumbnail'], {
      type: 'reference',
      referenceTypes: ['external'],
      maxLength: URL,
    }),
    complex(
      'addresses',
      'Postal addresses.',
      [
        text('formatted', 'The whole address, as on a label; may have several lines.'),
        text('streetAddress', 'Street and house; may have several lines.'),
        text('locality', 'The city.'),
        text('region', 'The state or region.'),
        text('postalCode', 'The postal code.'),
        text('country', 'The country, by its code of two letters.'),
        ...qualifiers(['work', 'home', 'other']),
      ],
      { multiValued: true },
    ),
    complex(
      'groups',
      'The groups that the user is a member of; sent when asked for.',
      [
        text('value', 'The id of the group.', { caseExact: true, compare: 'uuid' }),
        text('$ref', 'The URL of the group.', { type: 'reference', referenceTypes: ['Group'] }),
        text('display', 'The displayName of the group.'),
      ],
      { multiValued: true, mutability: 'readOnly', returned: 'request' },
    ),
    plural('entitlements', 'Things that the user may have.', []),
    complex(
      'roles',
      'The roles of the user itself, without those that groups give.',
      [text('value', 'The name of the role.', { canonicalValues: roles })],
      { multiValued: true },
    ),
    plural('x509Certificates', 'Certificates, DER in base64.', [], {
      type: 'binary',
      maxLength: CERTIFICATE,
    }),
  ],
});
