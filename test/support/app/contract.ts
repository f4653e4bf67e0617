import { Ajv, type ValidateFunction } from 'ajv';
import { default as addFormats } from 'ajv-formats';
import { readFileSync } from 'node:fs';
import type { Answer } from './client.js';

interface OpenApi {
  paths: Record<
    string,
    Record<string, { responses: Record<string, { content?: Record<string, { schema: object }> }> }>
  >;
  components: {
    schemas: Record<string, { type?: string; properties?: object; additionalProperties?: unknown }>;
  };
}

export const document = JSON.parse(
  readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8'),
) as OpenApi;
for (const schema of Object.values(document.components.schemas)) {
  // Only documented fields may exist: an answer with one more field fails.
  if (schema.properties) schema.additionalProperties ??= false;
}

const ajv = new Ajv({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema({ $id: 'openapi', ...document });
const validators = new Map<string, ValidateFunction>();

/** Template of the paths: `/users/{user_id}` for `/users/0198…`. Fixed paths come before templates. */
const templates = Object.keys(document.paths)
  .map((template) => ({ template, pattern: new RegExp(`^${template.replace(/\{[^}]+\}/g, '[^/]+')}$`) }))
  .sort((a, b) => a.template.split('{').length - b.template.split('{').length);

/** Returns the template of a path without its query, undefined for one that the OpenAPI file does not have. */
export const templateOf = (path: string): string | undefined =>
  templates.find(({ pattern }) => pattern.test(path))?.template;

/** @throws Error when an answer of a documented route has an undocumented status or a body that breaks its schema. */
export function assertContract(method: string, path: string, answer: Answer): void {
  const template = templateOf(path.split('?', 1)[0] ?? '');
  const operation = template && document.paths[template]?.[method.toLowerCase()];
  if (!operation) return; // 404, 405 and pages for people
  const where = `${method} ${template} ${answer.status}`;
  const response = operation.responses[String(answer.status)];
  if (!response) throw new Error(`${where} is not in the OpenAPI file: ${answer.text}`);
  const [type] = Object.keys(response.content ?? {});
  if (type === undefined) {
    if (answer.text !== '') throw new Error(`${where} should have no body: ${answer.text}`);
    return;
  }
  const validate = validators.get(where) ?? compile(where, template, method, answer.status, type);
  // The schema of a stream of events is that of the data of each.
  if (type === 'text/event-stream') return assertEvents(answer, validate, where);
  if (!validate(type.includes('json') ? answer.body : answer.text))
    throw new Error(`${where} breaks its schema: ${ajv.errorsText(validate.errors)}\n${answer.text}`);
}

function assertEvents({ text }: Answer, validate: ValidateFunction, where: string): void {
  for (const [, data = ''] of text.matchAll(/^data: ?(.*)$/gm))
    if (!validate(JSON.parse(data)))
      throw new Error(`an event of ${where} breaks its schema: ${ajv.errorsText(validate.errors)}\n${data}`);
}

function compile(
  where: string,
  template: string,
  method: string,
  status: number,
  type: string,
): ValidateFunction {
  const pointer = [
    'paths',
    template,
    method.toLowerCase(),
    'responses',
    String(status),
    'content',
    type,
    'schema',
  ]
    .map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
    .join('/');
  const validate = ajv.compile({ $ref: `openapi#/${pointer}` });
  validators.set(where, validate);
  return validate;
}
