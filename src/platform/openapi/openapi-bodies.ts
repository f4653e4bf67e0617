import { type JsonObject, isObject } from '../common/json.js';

/** What the request bodies of the OpenAPI document have in common, and no decorator has to repeat. */

/** As much of an operation as its body needs. */
interface WithBody {
  parameters?: { name: string; in?: string; description?: string; schema?: unknown }[];
  requestBody?: unknown;
}

/**
 * A JSON body of the API is read by `readInput`, which refuses a key that it does not know (`unknown_field`): its schema,
 * and each object in it that names its members, is closed. Bodies of SCIM stay open, because SCIM ignores such a key.
 */
export function closeBody({ requestBody }: WithBody, schemas: JsonObject): void {
  const { schema } = media(requestBody, 'application/json');
  if (schema) close(schema, schemas);
}

function close(schema: JsonObject, schemas: JsonObject): void {
  const named = typeof schema['$ref'] === 'string' ? schemas[schema['$ref'].split('/').at(-1) ?? ''] : schema;
  if (!isObject(named) || !isObject(named['properties'])) return;
  named['additionalProperties'] = false;
  for (const member of Object.values(named['properties'])) if (isObject(member)) close(member, schemas);
}

/** The options of an upload may be fields of its form: there they have the schemas that they have in the query. */
export function addFormFields({ requestBody, parameters = [] }: WithBody): void {
  const { schema } = media(requestBody, 'multipart/form-data');
  if (!schema) return;
  const options = parameters.flatMap(({ name, in: place, description, schema: of }) =>
    place === 'query' && isObject(of) ? [[name, { ...of, ...(description && { description }) }]] : [],
  );
  const file = isObject(schema['properties']) ? schema['properties'] : {};
  schema['properties'] = { ...Object.fromEntries(options), ...file };
  schema['additionalProperties'] = false;
}

function media(body: unknown, type: string): { schema?: JsonObject } {
  const content = isObject(body) && isObject(body['content']) ? body['content'][type] : undefined;
  return isObject(content) && isObject(content['schema']) ? { schema: content['schema'] } : {};
}
