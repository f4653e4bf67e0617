import type { AttributeDefinition } from '../protocol/attribute.js';

type More = Partial<AttributeDefinition>;

/** Rules of the user, not this description, judge the length of what has a column of its own. */
export const COLUMN: More = { maxLength: Infinity };

export const text = (name: string, description: string, more: More = {}): AttributeDefinition => ({
  name,
  description,
  ...more,
});

export const flag = (name: string, description: string, more: More = {}): AttributeDefinition => ({
  name,
  description,
  type: 'boolean',
  ...more,
});

export const complex = (
  name: string,
  description: string,
  subAttributes: readonly AttributeDefinition[],
  more: More = {},
): AttributeDefinition => ({ name, description, type: 'complex', subAttributes, ...more });

/** A list of `{value, display, type, primary}` (RFC 7643 §2.4). */
export const plural = (
  name: string,
  description: string,
  types: readonly string[],
  value: More = {},
  more: More = {},
): AttributeDefinition =>
  complex(name, description, [text('value', 'The value.', value), ...qualifiers(types)], {
    multiValued: true,
    ...more,
  });

export const qualifiers = (types: readonly string[]): AttributeDefinition[] => [
  text('display', 'A name of the value for people to read.'),
  text('type', 'What the value is for.', { canonicalValues: types }),
  flag('primary', 'Whether this is the preferred one; one element at most.'),
];

/** Of all resources; no schema lists them (RFC 7643 §3.1). */
export const COMMON: readonly AttributeDefinition[] = [
  text('schemas', 'The URNs of the schemas that the resource uses.', {
    type: 'reference',
    referenceTypes: ['uri'],
    multiValued: true,
    returned: 'always',
    mutability: 'readOnly',
  }),
  text('id', 'The identifier of the resource, made by the service.', {
    mutability: 'readOnly',
    returned: 'always',
    uniqueness: 'server',
    caseExact: true,
    compare: 'uuid',
  }),
  text('externalId', 'The identifier of the resource at the provider.', {
    caseExact: true,
    uniqueness: 'server',
    ...COLUMN,
  }),
  complex(
    'meta',
    'What the service knows about the resource.',
    [
      text('resourceType', 'The name of the type of resource.'),
      text('created', 'When the resource was made.', { type: 'dateTime' }),
      text('lastModified', 'When the resource was last changed.', { type: 'dateTime' }),
      text('location', 'The URL of the resource.', { type: 'reference', referenceTypes: ['uri'] }),
      text('version', 'The version of the resource, as in its ETag.', { caseExact: true }),
    ],
    { mutability: 'readOnly' },
  ),
];
