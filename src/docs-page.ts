import type { OpenAPIObject } from '@nestjs/swagger';
import { readFileSync } from 'node:fs';
import { isObject } from './platform/common/json.js';
import { GUIDES } from './operations/health/guides.js';

/** The OpenAPI file as the page at `/docs` has it, for people: the file for clients stays as it is. */

/** The paths in the order of use; what is not listed comes behind, as it is. */
const PATHS: readonly string[] = [
  'sessions/login',
  'users/search',
  'users',
  'users/{user_id}',
  'users/me',
  'users/{user_id}/history',
  'imports',
  'imports/preview',
  'imports/{import_id}',
  'imports/{import_id}/rows',
  'imports/{import_id}/apply',
  'imports/{import_id}/reject',
  'imports/{import_id}/cancel',
  'imports/{import_id}/revert',
  'imports/{import_id}/failed.csv',
].map((path) => `/api/0.3/${path}`);

/** What a form begins with, because the text says to begin with it. */
const BEGIN_WITH: Readonly<Record<string, unknown>> = { dry_run: true };
const FORM = 'multipart/form-data';

interface SchemaObject {
  description?: string;
  default?: unknown;
  example?: unknown;
  properties?: Record<string, SchemaObject>;
}

interface ParameterObject {
  name: string;
  required?: boolean;
  description?: string;
  schema?: SchemaObject;
  example?: unknown;
  examples?: unknown;
}

interface Operation {
  parameters?: ParameterObject[];
  requestBody?: { content: Record<string, { schema?: SchemaObject }> };
  responses: Record<string, { content?: unknown; headers?: unknown }>;
}

/**
 * The document for the page: nothing optional is filled in, since a default or an example of a parameter would be sent by who only presses
 * "Execute"; a file is sent as a form, with its options; one error of an operation has an example.
 */
export function forPeople(document: OpenAPIObject): OpenAPIObject {
  const copy = structuredClone(document);
  for (const item of Object.values(copy.paths))
    for (const operation of Object.values(item).filter(isOperation)) {
      asForm(operation);
      for (const parameter of operation.parameters ?? []) if (!parameter.required) withoutValue(parameter);
      oneExample(operation);
    }
  const place = (path: string): number => (PATHS.includes(path) ? PATHS.indexOf(path) : PATHS.length);
  const sorted = Object.entries(copy.paths).toSorted(([a], [b]) => place(a) - place(b));
  const guides = Object.keys(GUIDES).map((name) => `[${name}](/guides/${name})`);
  const info = {
    ...copy.info,
    description: `${copy.info.description ?? ''}\n\nGuides: ${guides.join(' · ')}`,
  };
  return { ...copy, info, paths: Object.fromEntries(sorted) };
}

function isOperation(value: unknown): value is Operation {
  return isObject(value) && 'responses' in value;
}

/** The options of a file are fields of its form, once. */
function asForm(operation: Operation): void {
  const { requestBody } = operation;
  const form = requestBody?.content[FORM];
  const { properties } = form?.schema ?? {};
  if (!requestBody || !form?.schema || !properties) return;
  operation.parameters = operation.parameters?.filter(({ name }) => !(name in properties)) ?? [];
  const fields = Object.entries(properties).map(([name, field]) => [name, formField(field, name)] as const);
  const rank = (name: string): number => (name in BEGIN_WITH ? 0 : name === 'file' ? 1 : 2);
  const sorted = Object.fromEntries(fields.toSorted(([a], [b]) => rank(a) - rank(b)));
  requestBody.content = { [FORM]: { ...form, schema: { ...form.schema, properties: sorted } } };
}

/** Swagger UI makes up a value for a field that has no example; the service takes an empty one as not given. */
function formField(schema: SchemaObject, name: string): SchemaObject {
  if (name === 'file') return schema;
  return name in BEGIN_WITH ? { ...schema, default: BEGIN_WITH[name] } : { ...bare(schema), example: '' };
}

/** A default and an example are told, so that nobody sends them unawares. */
function bare({ default: standard, example, ...schema }: SchemaObject): SchemaObject {
  const told = tell(schema.description, standard, example);
  return { ...schema, ...(told && { description: told }) };
}

function withoutValue(parameter: ParameterObject): void {
  const { schema, example } = parameter;
  if (!schema) return;
  const { description, ...left } = bare({ example, ...schema });
  parameter.schema = left;
  const told = tell(parameter.description ?? description, schema.default, example ?? schema.example);
  if (told) parameter.description = told;
  delete parameter.example;
  delete parameter.examples;
}

const shown = (value: unknown): string => `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;

function tell(description: string | undefined, standard: unknown, example: unknown): string | undefined {
  const says = (value: unknown): boolean => value === undefined || (description ?? '').includes(shown(value));
  const parts = [
    description,
    ...(says(standard) ? [] : [`Default: ${shown(standard)}.`]),
    ...(says(example) ? [] : [`For example ${shown(example)}.`]),
  ];
  return parts.filter(Boolean).join(' ') || undefined;
}

/** Errors have one form: an operation shows it once, and the codes of all of them. */
function oneExample({ responses }: Operation): void {
  const errors = Object.entries(responses).filter(([status]) => Number(status) >= 400);
  const [, kept] = errors.find(([status]) => status === '422') ?? errors[0] ?? [];
  for (const [, response] of errors) {
    delete response.headers;
    if (response !== kept) delete response.content;
  }
}

/** The script of the page, which lies beside this source and beside the bundle. */
export const pageScript = (): string => readFileSync(new URL('./docs-script.mjs', import.meta.url), 'utf8');
