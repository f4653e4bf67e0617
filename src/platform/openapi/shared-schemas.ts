import { HEADER_BYTES } from '../http/server.js';

export const ID = { format: 'uuid', example: '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10' } as const;

export const TIME = { format: 'date-time', example: '2026-01-31T08:15:30.123Z' } as const;
export const NULLABLE_ID = { type: String, format: 'uuid', nullable: true } as const;
export const NULLABLE_INTEGER = { type: 'integer', nullable: true } as const;
export const NULLABLE_TIME = { type: String, format: 'date-time', nullable: true } as const;

export const CASE_INSENSITIVE = { description: 'Uuid of the record. Case-insensitive.' } as const;

export const describeTexts = (maxLength: number, maxItems: number) =>
  ({ type: 'array', items: { type: 'string', maxLength }, maxItems }) as const;

/** Describes a response header. By default, its value is text. */
export const describeHeader = (name: string, description: string, schema: object) => ({
  [name]: { description, schema: { type: 'string', ...schema } },
});

export const LOCATION = describeHeader('Location', 'Path of the created record.', { maxLength: 255 });

const LINK_HELP = 'Link to the next page, with `rel="next"`. Missing on the last page.';
export const NEXT_PAGE_LINK = describeHeader('Link', LINK_HELP, { maxLength: HEADER_BYTES });

export const ETAG = describeHeader('ETag', 'Version of the record, for If-None-Match and If-Match.', {
  maxLength: 64,
});

/** Schema of one or several entity tags, limited by the maximum size of request headers. */
export const ENTITY_TAGS = { type: 'string', maxLength: HEADER_BYTES } as const;

/**
 * Returns a schema that accepts every JSON value. It lists all types because code generators derive no type from an
 * empty schema.
 */
export const describeAnyValue = (items: object, maxItems: number) => ({
  oneOf: [
    { type: 'string', maxLength: 10_000, nullable: true },
    { type: 'boolean' },
    { type: 'number' },
    { type: 'array', items, maxItems },
    { type: 'object' },
  ],
});

/** Schema of an old or new field value. Roles and attributes with several elements, such as addresses, are lists. */
export const FIELD_VALUE = {
  ...describeAnyValue({ oneOf: [{ type: 'string', maxLength: 10_000 }, { type: 'object' }] }, 1000),
  example: '+44 20 7946 0958',
};
