import { HEADER_BYTES } from '../http/server.js';

/** Schemas, headers and answers that the OpenAPI descriptions of several features share. */

/** Schema of an id in a path or an answer. */
export const ID = { format: 'uuid', example: '0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10' } as const;

export const TIME = { format: 'date-time', example: '2026-01-31T08:15:30.123Z' } as const;
export const NULLABLE_ID = { type: String, format: 'uuid', nullable: true } as const;
export const NULLABLE_TIME = { type: String, format: 'date-time', nullable: true } as const;

/** For an id whose letters may be of either case. */
export const IN_ANY_CASE = { description: 'In any case.' } as const;

/** Schema of a list of texts. */
export const describeTexts = (maxLength: number, maxItems: number) =>
  ({ type: 'array', items: { type: 'string', maxLength }, maxItems }) as const;

/** A header of an answer: a text, unless its schema says otherwise. */
export const describeHeader = (name: string, description: string, schema: object) => ({
  [name]: { description, schema: { type: 'string', ...schema } },
});

/** Header of an answer that has created a record. */
export const LOCATION = describeHeader('Location', 'Path of the record.', { maxLength: 255 });

/** Header of a list that is walked by its links. */
export const NEXT = describeHeader('Link', '`rel="next"`: the next page.', { maxLength: HEADER_BYTES });

export const ETAG = describeHeader('ETag', 'For If-None-Match and If-Match.', { maxLength: 64 });

/** One tag or several; limited by the headers of a request. */
export const TAGS = { type: 'string', maxLength: HEADER_BYTES } as const;

/** Links from an answer to operations on its record. @param field of the answer that has the value of the parameter. */
export const linkTo = (operationIds: readonly string[], parameter: string, field: string, more?: object) => {
  const parameters = { [parameter]: `$response.body#/${field}` };
  return Object.fromEntries(operationIds.map((id) => [id, { operationId: id, parameters, ...more }]));
};

/** Schema of any JSON value. Written out, because an empty schema gives a generator no type. */
export const describeValue = (items: object, maxItems: number) => ({
  oneOf: [
    { type: 'string', maxLength: 10_000, nullable: true },
    { type: 'boolean' },
    { type: 'number' },
    { type: 'array', items, maxItems },
    { type: 'object' },
  ],
});

/** The value of a field, old or new. A list has roles, or the elements of an attribute such as addresses. */
export const FIELD_VALUE = {
  ...describeValue({ oneOf: [{ type: 'string', maxLength: 10_000 }, { type: 'object' }] }, 1000),
  example: '+44 20 7946 0958',
};
