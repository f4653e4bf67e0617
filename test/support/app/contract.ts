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

export const openApi = JSON.parse(
  readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8'),
) as OpenApi;
for (const schema of Object.values(openApi.components.schemas)) {
  // A response with an undocumented field fails.
  if (schema.properties) schema.additionalProperties ??= false;
}

const ajv = new Ajv({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema({ $id: 'openapi', ...openApi });
const validators = new Map<string, ValidateFunction>();

/** Path templates such as `/users/{user_id}`. Fixed paths come before templates. */
const templates = Object.keys(openApi.paths)
  .map((template) => ({ template, pattern: new RegExp(`^${template.replace(/\{[^}]+\}/g, '[^/]+')}$`) }))
  .sort((a, b) => a.template.split('{').length - b.template.split('{').length);

/**
 * Returns the template of a path without its query, or undefined for a path that the OpenAPI file does not document.
 */
export const templateOf = (path: string): string | undefined =>
  templates.find(({ pattern }) => pattern.test(path))?.template;

/**
 * Checks a response of a documented route against the OpenAPI file.
 * @throws Error if the status is undocumented or the body does not match its schema.
 */
export function assertContract(method: string, path: string, response: Answer): void {
  const template = templateOf(path.split('?', 1)[0] ?? '');
  const operation = template && openApi.paths[template]?.[method.toLowerCase()];
  if (!operation) return; // 404, 405 and HTML pages
  const where = `${method} ${template} ${response.status}`;
  const documented = operation.responses[String(response.status)];
  if (!documented) throw new Error(`${where} is not in the OpenAPI file: ${response.text}`);
  const [type] = Object.keys(documented.content ?? {});
  if (type === undefined) {
    if (response.text !== '') throw new Error(`${where} should have no body: ${response.text}`);
    return;
  }
  const validate = validators.get(where) ?? compileValidator(where, template, method, response.status, type);
  // For an event stream, the schema describes the data of each event.
  if (type === 'text/event-stream') return assertEvents(response, validate, where);
  if (!validate(type.includes('json') ? response.body : response.text))
    throw new Error(
      `${where} does not match its schema: ${ajv.errorsText(validate.errors)}\n${response.text}`,
    );
}

function assertEvents({ text }: Answer, validate: ValidateFunction, where: string): void {
  for (const [, data = ''] of text.matchAll(/^data: ?(.*)$/gm))
    if (!validate(JSON.parse(data)))
      throw new Error(
        `an event of ${where} does not match its schema: ${ajv.errorsText(validate.errors)}\n${data}`,
      );
}

function compileValidator(
  where: string,
  template: string,
  method: string,
  status: number,
  type: string,
): ValidateFunction {
  const parts = ['paths', template, method.toLowerCase(), 'responses', String(status), 'content', type];
  const pointer = [...parts, 'schema']
    .map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
    .join('/');
  const validate = ajv.compile({ $ref: `openapi#/${pointer}` });
  validators.set(where, validate);
  return validate;
}
