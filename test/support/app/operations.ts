import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { TestApp } from './app.js';
import type { Answer, Json } from './client.js';
import { deletion, writeUsers } from './deletion.js';
import { create } from '../data/factories.js';
import { aGroup } from './groups.js';
import { csv, runImport } from './imports.js';

interface ResponseObject {
  description: string;
  headers?: object;
  content?: Record<string, { schema: Json }>;
}

interface Media {
  schema: Json;
  example?: Json;
  examples?: Record<string, { value: Json }>;
}

/** An operation of the OpenAPI file, with its method and path. */
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

/** Every operation of the OpenAPI file. */
export const OPERATIONS: Operation[] = Object.entries(DOCUMENT.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({
    ...operation,
    parameters: operation.parameters ?? [],
    method: method.toUpperCase(),
    path,
  })),
);

/** Returns the schema that a reference points to, or the schema itself. */
const schemaOf = (schema: Json): Json =>
  typeof schema?.$ref === 'string' ? DOCUMENT.components.schemas[schema.$ref.split('/').at(-1)] : schema;

/** Returns the media type and schema of a JSON body, an example, and a body with the required members only. */
export function findJsonBody(
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

/** Builds an object from the examples of the required members of a schema. */
const exampleOf = (schema: Json): Json =>
  Object.fromEntries(
    (schema.required ?? []).map((name: string) => [name, schemaOf(schema.properties[name]).example]),
  );

/**
 * Yields every position in a body that a schema describes, as a path of member names. `0` stands for the items of a
 * list.
 */
export function* listPaths(schema: Json, path: string[] = []): Generator<{ path: string[]; schema: Json }> {
  const own = schemaOf(schema);
  yield { path, schema: own };
  for (const [name, member] of Object.entries<Json>(own.properties ?? {}))
    yield* listPaths(member, [...path, name]);
  if (own.items) yield* listPaths(own.items, [...path, '0']);
}

/** Returns a copy of a body with a value at a path. Missing objects and lists on the path are created. */
export function setAt(body: Json, [name, ...rest]: string[], value: Json): Json {
  if (name === undefined) return value;
  if (name === '0') return [setAt(Array.isArray(body) ? body[0] : undefined, rest, value)];
  const object = typeof body === 'object' && body !== null && !Array.isArray(body) ? body : {};
  return { ...object, [name]: setAt(object[name], rest, value) };
}

/**
 * Creates an import that the operation accepts. A revert needs an applied import, all other operations a planned one.
 */
async function anImport({ key }: TestApp, operationId: string): Promise<string> {
  const unique = randomUUID();
  const file = csv('ExternalId,Username,Email', `${unique},${unique},${unique}@example.org`);
  const dryRun = String(!operationId.startsWith('revert'));
  return (await runImport(key, file, `dry_run=${dryRun}`)).id;
}

/** Creates a record for a path parameter and returns its id. */
async function createRecord(app: TestApp, parameter: string, operationId: string): Promise<string> {
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

/** Fills the path parameters of an operation with ids of existing records. */
export async function fillPath(app: TestApp, { path, parameters, operationId }: Operation): Promise<string> {
  let filled = path;
  for (const { name, schema, example } of parameters.filter((parameter) => parameter.in === 'path')) {
    const isFixed = name === 'type' || name === 'urn';
    const value = isFixed ? String(example ?? schema.example) : await createRecord(app, name, operationId);
    filled = filled.replace(`{${name}}`, encodeURIComponent(value));
  }
  return filled;
}

/** Sends a JSON body to an operation with the first API key. */
export function sendJson(app: TestApp, { method, path }: Operation, at: string, body: Json): Promise<Answer> {
  const type = path.startsWith('/scim/') ? 'application/scim+json' : 'application/json';
  return app.key.fetch(method, at, JSON.stringify(body), { 'content-type': type });
}
