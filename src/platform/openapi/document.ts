import type { OpenAPIObject } from '@nestjs/swagger';
import { isObject } from '../common/json.js';
import { REPLAYED_HEADER } from '../http/error.filter.js';
import { CHOICES } from '../input/query-rules.js';
import { describeHeader } from './shared-schemas.js';
import { IDEMPOTENCY_KEY, REQUEST_BODY, REQUIRED_SCOPE } from './route-docs.js';

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

export interface Operation {
  operationId: string;
  description?: string;
  parameters: ParameterObject[];
  requestBody?: { content: Record<string, { schema?: SchemaObject }> };
  responses: Record<string, { headers?: object; content?: object }>;
  [REQUEST_BODY]?: Operation['requestBody'];
  [REQUIRED_SCOPE]?: string;
}

export const listOperations = ({ paths }: OpenAPIObject): Operation[] =>
  Object.values(paths).flatMap((item) => Object.values(item).filter(isOperation));

function isOperation(value: unknown): value is Operation {
  return isObject(value) && 'responses' in value;
}

const REPLAY_HEADERS = describeHeader(
  REPLAYED_HEADER,
  'Present if this is the stored response to an earlier request with the same Idempotency-Key.',
  { enum: ['true'] },
);

/** Headers of every response with a status below 500. */
const RATE_LIMIT_HEADERS = {
  ...describeHeader(
    'RateLimit',
    'Remaining requests, and seconds until the limit resets. Sent only if RATE_LIMIT_PER_MINUTE is set.',
    { maxLength: 100, pattern: '^"default";r=\\d+;t=\\d+$' },
  ),
  ...describeHeader(
    'RateLimit-Policy',
    'Allowed requests, and the length of the window in seconds. Sent only if RATE_LIMIT_PER_MINUTE is set.',
    { maxLength: 100, pattern: '^"default";q=\\d+;w=\\d+$' },
  ),
};

export function completeDocument(document: OpenAPIObject): void {
  addEnumsAndLimits(document);
  const { schemas = {} } = (document.components ??= {});
  document.components.headers = { ...RATE_LIMIT_HEADERS, ...REPLAY_HEADERS };
  for (const operation of listOperations(document)) {
    const { [REQUEST_BODY]: body, parameters, responses } = operation;
    if (body) operation.requestBody = body;
    Reflect.deleteProperty(operation, REQUEST_BODY);
    forbidUnknownMembers(operation.requestBody?.content['application/json']?.schema, schemas);
    addFormFields(operation);
    const isChange = parameters.some(({ name }) => name === IDEMPOTENCY_KEY);
    for (const [key, response] of Object.entries(responses)) {
      const status = Number(key);
      if (status >= 500) continue;
      const added = { ...(isChange && status < 400 && REPLAY_HEADERS), ...RATE_LIMIT_HEADERS };
      response.headers = { ...response.headers, ...toReferences(added) };
    }
  }
}

/** Returns references to shared headers, so that the document defines each header once. */
function toReferences(headers: object): object {
  const toReference = (name: string) => ({ $ref: `#/components/headers/${name}` });
  return Object.fromEntries(Object.keys(headers).map((name) => [name, toReference(name)]));
}

/** Schema limits that are added to each schema of a type or format. */
const LIMITS: Readonly<Record<string, object>> = {
  uuid: { minLength: 36, maxLength: 36 },
  // The longest accepted time has nanoseconds and an offset. Times in responses have 24 characters.
  'date-time': { maxLength: 35 },
  // The integers that a JSON number represents exactly.
  integer: { format: 'int64', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
};

/** For each schema in the document, converts its `CHOICES` to `enum` and adds the `LIMITS` of its type or format. */
function addEnumsAndLimits(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  for (const member of Object.values(node)) addEnumsAndLimits(member);
  if (!isObject(node)) return;
  const { schema, type, format, [CHOICES]: values } = node;
  if (isObject(schema) && values) schema['enum'] = values;
  Reflect.deleteProperty(node, CHOICES);
  const limits = LIMITS[String(type === 'string' ? format : type)];
  if (limits) Object.assign(node, { ...limits, ...node });
}

/**
 * Sets `additionalProperties: false` on the schema of a JSON body and on its nested objects, because `readInput`
 * rejects unknown keys. SCIM bodies are left out, because SCIM ignores unknown keys.
 */
function forbidUnknownMembers(schema: SchemaObject | undefined, schemas: Record<string, SchemaObject>): void {
  const named = schema?.$ref === undefined ? schema : schemas[schema.$ref.split('/').at(-1) ?? ''];
  if (!named?.properties) return;
  named.additionalProperties = false;
  for (const member of Object.values(named.properties)) forbidUnknownMembers(member, schemas);
}

/**
 * Adds the query options of an upload to the schema of its form, because a client may also send them as form fields.
 */
function addFormFields({ requestBody, parameters }: Operation): void {
  const form = requestBody?.content[FORM]?.schema;
  if (!form) return;
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  const options = inQuery.map(({ name, description, schema }): [string, SchemaObject] => {
    return [name, { ...schema, ...(description && { description }) }];
  });
  form.properties = { ...Object.fromEntries(options), ...form.properties };
  form.additionalProperties = false;
}
