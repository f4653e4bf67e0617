import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { TestApp } from './app.js';
import type { Answer, Json } from './client.js';
import { deletion, writeUsers } from './deletion.js';
import { create } from '../data/factories.js';
import { aGroup } from './groups.js';
import { csv, imported } from './imports.js';

export interface Link {
  operationId: string;
  parameters: Record<string, string>;
}

interface ResponseObject {
  description: string;
  headers?: object;
  content?: Record<string, { schema: Json }>;
  links?: Record<string, Link>;
}

interface Media {
  schema: Json;
  example?: Json;
  examples?: Record<string, { value: Json }>;
}

/** An operation of the OpenAPI file, with its place. */
export interface Operation {
  operationId: string;
  method: string;
  path: string;
  parameters: { in: string; name: string; schema: Json; example?: Json }[];
  security?: object[];
  'x-required-scope'?: string;
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, ResponseObject>;
}

export const DOCUMENT = JSON.parse(
  readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8'),
) as {
  paths: Record<string, Record<string, Omit<Operation, 'parameters'> & Partial<Operation>>>;
  components: Json;
};

/** Every operation of the file. */
export const OPERATIONS: Operation[] = Object.entries(DOCUMENT.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({
    ...operation,
    parameters: operation.parameters ?? [],
    method: method.toUpperCase(),
    path,
  })),
);

/** The schema that a reference names, or the schema itself. */
const schemaOf = (schema: Json): Json =>
  typeof schema?.$ref === 'string' ? DOCUMENT.components.schemas[schema.$ref.split('/').at(-1)] : schema;

/** The media type and the schema of a JSON body, an example of one, and the least that one has. */
export function jsonBody(
  operation: Operation,
): { type: string; schema: Json; example: Json; least: Json } | undefined {
  const found = Object.entries(operation.requestBody?.content ?? {}).find(([name]) => name.endsWith('json'));
  if (!found) return undefined;
  const [type, media] = found;
  const schema = schemaOf(media.schema);
  const least = exampleOf(schema);
  const example = media.example ?? Object.values(media.examples ?? {})[0]?.value ?? least;
  return { type, schema, example, least };
}

/** What the required members of a schema give as their examples. */
const exampleOf = (schema: Json): Json =>
  Object.fromEntries(
    (schema.required ?? []).map((name: string) => [name, schemaOf(schema.properties[name]).example]),
  );

/** Every place of a body that a schema describes, by the names that lead there; `0` leads into a list. */
export function* places(schema: Json, path: string[] = []): Generator<{ path: string[]; schema: Json }> {
  const own = schemaOf(schema);
  yield { path, schema: own };
  for (const [name, member] of Object.entries<Json>(own.properties ?? {}))
    yield* places(member, [...path, name]);
  if (own.items) yield* places(own.items, [...path, '0']);
}

/** A copy of a body with a value at a place. Objects and lists on the way are made. */
export function put(body: Json, [name, ...rest]: string[], value: Json): Json {
  if (name === undefined) return value;
  if (name === '0') return [put(Array.isArray(body) ? body[0] : undefined, rest, value)];
  const object = typeof body === 'object' && body !== null && !Array.isArray(body) ? body : {};
  return { ...object, [name]: put(object[name], rest, value) };
}

/** One that has been applied can be undone; one that is planned, everything else. */
async function anImport({ key }: TestApp, operationId: string): Promise<string> {
  const unique = randomUUID();
  const file = csv('ExternalId,Username,Email', `${unique},${unique},${unique}@example.org`);
  const dryRun = String(!operationId.startsWith('revert'));
  return (await imported(key, file, `dry_run=${dryRun}`)).id;
}

/** A record for a path to name, by the name of its parameter. */
async function idFor(app: TestApp, parameter: string, operationId: string): Promise<string> {
  if (parameter === 'import_id') return anImport(app, operationId);
  if (parameter === 'key_id') return (await app.key.post('/api_keys', { name: 'to be revoked' })).body.id;
  if (parameter === 'name') {
    await app.key.put('/import_profiles/example', { columns: { Nr: 'ExternalId' } });
    return 'example';
  }
  const isGroup = parameter === 'group_id' || operationId.endsWith('ScimGroup');
  if (isGroup) return (await aGroup(app)).uuid;
  if (parameter === 'session_id') {
    await app.login();
    return (await app.key.get('/sessions?limit=1')).body.Results[0].id;
  }
  const uuid = String((await create(app.key)).uuid);
  if (operationId === 'restoreUser') await writeUsers(app, [deletion(uuid)]);
  return uuid;
}

/** The path of an operation with records that there are. */
export async function filledPath(
  app: TestApp,
  { path, parameters, operationId }: Operation,
): Promise<string> {
  let filled = path;
  for (const { name, schema, example } of parameters.filter((parameter) => parameter.in === 'path')) {
    const isFixed = name === 'type' || name === 'urn';
    const value = isFixed ? String(example ?? schema.example) : await idFor(app, name, operationId);
    filled = filled.replace(`{${name}}`, encodeURIComponent(value));
  }
  return filled;
}

/** Sends a JSON body to an operation, with the key. */
export function sendJson(app: TestApp, { method, path }: Operation, at: string, body: Json): Promise<Answer> {
  const type = path.startsWith('/scim/') ? 'application/scim+json' : 'application/json';
  return app.key.raw(method, at, JSON.stringify(body), { 'content-type': type });
}
