import type { OpenAPIObject } from '@nestjs/swagger';
import { isObject } from '../common/json.js';
import { REPLAYED } from '../http/error.filter.js';
import { CHOICES } from '../input/query-rules.js';
import { describeHeader } from './docs.js';
import { IDEMPOTENCY_KEY, REQUEST_BODY, REQUIRED_SCOPE } from './route-docs.js';

/** The media type of a body that is a form with a file. */
export const FORM = 'multipart/form-data';

export interface SchemaObject {
  $ref?: string;
  description?: string;
  default?: unknown;
  example?: unknown;
  properties?: Record<string, SchemaObject>;
  additionalProperties?: unknown;
}

interface ParameterObject {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema?: SchemaObject;
  example?: unknown;
  examples?: unknown;
}

/** The members of an operation that are read or changed. */
export interface Operation {
  operationId: string;
  description?: string;
  parameters: ParameterObject[];
  requestBody?: { content: Record<string, { schema?: SchemaObject }> };
  responses: Record<string, { headers?: object; content?: object }>;
  [REQUEST_BODY]?: Operation['requestBody'];
  [REQUIRED_SCOPE]?: string;
}

export const operationsOf = ({ paths }: OpenAPIObject): Operation[] =>
  Object.values(paths).flatMap((item) => Object.values(item).filter(isOperation));

function isOperation(value: unknown): value is Operation {
  return isObject(value) && 'responses' in value;
}

/** The header of an answer that was sent before. */
const REPLAY = describeHeader(
  REPLAYED,
  'Present when this is the answer to an earlier request with the same Idempotency-Key.',
  { enum: ['true'] },
);

/** Headers of every answer but those of a fault. */
const QUOTA = {
  ...describeHeader(
    'RateLimit',
    'Requests that are left, and the seconds until all are back; where RATE_LIMIT_PER_MINUTE is set.',
    { maxLength: 100, pattern: '^"default";r=\\d+;t=\\d+$' },
  ),
  ...describeHeader(
    'RateLimit-Policy',
    'Requests in a window of seconds; where RATE_LIMIT_PER_MINUTE is set.',
    { maxLength: 100, pattern: '^"default";q=\\d+;w=\\d+$' },
  ),
};

/** Adds what all operations have in common, so that no decorator has to repeat it. */
export function completeDocument(document: OpenAPIObject): void {
  completeSchemas(document);
  const { schemas = {} } = (document.components ??= {});
  document.components.headers = { ...QUOTA, ...REPLAY };
  for (const operation of operationsOf(document)) {
    const { [REQUEST_BODY]: body, parameters, responses } = operation;
    if (body) operation.requestBody = body;
    Reflect.deleteProperty(operation, REQUEST_BODY);
    close(operation.requestBody?.content['application/json']?.schema, schemas);
    addFormFields(operation);
    const isChange = parameters.some(({ name }) => name === IDEMPOTENCY_KEY);
    for (const [key, response] of Object.entries(responses)) {
      const status = Number(key);
      const added = { ...(isChange && status < 400 && REPLAY), ...(status < 500 && QUOTA) };
      if (status < 500) response.headers = { ...response.headers, ...referencesTo(added) };
    }
  }
}

/** Headers of many answers are written once. */
function referencesTo(headers: object): object {
  return Object.fromEntries(
    Object.keys(headers).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

/** The limits that a type or format implies. */
const LIMITS: Readonly<Record<string, object>> = {
  uuid: { minLength: 36, maxLength: 36 },
  // The longest accepted text, with nanoseconds and an offset. Answers have 24 characters.
  'date-time': { maxLength: 35 },
  // The integers that a JSON number represents exactly.
  integer: { format: 'int64', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
};

/** Moves the values of `CHOICES` into the schemas that they belong to, and adds `LIMITS`, throughout the document. */
function completeSchemas(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  for (const member of Object.values(node)) completeSchemas(member);
  if (!isObject(node)) return;
  const { schema, type, format, [CHOICES]: values } = node;
  if (isObject(schema) && values) schema['enum'] = values;
  Reflect.deleteProperty(node, CHOICES);
  const limits = LIMITS[String(type === 'string' ? format : type)];
  if (limits) Object.assign(node, { ...limits, ...node });
}

/**
 * `readInput` refuses an unknown key (`unknown_field`), so the schema of a JSON body and each object in it that names its
 * members are closed. SCIM ignores unknown keys, so its bodies stay open.
 */
function close(schema: SchemaObject | undefined, schemas: Readonly<Record<string, SchemaObject>>): void {
  const named = schema?.$ref === undefined ? schema : schemas[schema.$ref.split('/').at(-1) ?? ''];
  if (!named?.properties) return;
  named.additionalProperties = false;
  for (const member of Object.values(named.properties)) close(member, schemas);
}

/** The options of an upload may be fields of its form, with the schemas that they have in the query. */
function addFormFields({ requestBody, parameters }: Operation): void {
  const form = requestBody?.content[FORM]?.schema;
  if (!form) return;
  const options = parameters
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, description, schema }): [string, SchemaObject] => [
      name,
      { ...schema, ...(description && { description }) },
    ]);
  form.properties = { ...Object.fromEntries(options), ...form.properties };
  form.additionalProperties = false;
}
