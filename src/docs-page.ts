import type { OpenAPIObject } from '@nestjs/swagger';
import { GUIDES } from './operations/health/guides.js';
import { FORM, type Operation, type SchemaObject, listOperations } from './platform/openapi/document.js';

/** The OpenAPI document as shown on the page `/docs`. Clients get the unchanged document. */

/**
 * Returns the document as the page shows it. Default values and examples of optional parameters move to the
 * description, because the button "Execute" would send them. File uploads become forms, and each operation shows one
 * error example.
 */
export function toPageDocument(document: OpenAPIObject): OpenAPIObject {
  const copy = structuredClone(document);
  for (const operation of listOperations(copy)) {
    moveOptionsToForm(operation);
    for (const parameter of operation.parameters) {
      if (parameter.required || !parameter.schema) continue;
      Object.assign(parameter, moveValuesToDescription(parameter.schema, parameter));
      delete parameter.example;
      delete parameter.examples;
    }
    removeRepeatedErrorExamples(operation);
  }
  const guides = Object.keys(GUIDES).map((name) => `[${name}](/guides/${name})`);
  copy.info.description = `${copy.info.description ?? ''}\n\nGuides: ${guides.join(' · ')}`;
  return copy;
}

/**
 * Removes the options of a file upload from the parameters, and shows them only as fields of its form. The field
 * `dry_run` comes first and is true by default, because the description recommends a dry run first.
 */
function moveOptionsToForm(operation: Operation): void {
  const { requestBody } = operation;
  const form = requestBody?.content[FORM]?.schema;
  if (!requestBody || !form?.properties?.['file']) return;
  const { dry_run, file, ...options } = form.properties;
  operation.parameters = operation.parameters.filter(({ name }) => !form.properties?.[name]);
  const fields = Object.entries(options).map(([name, field]): [string, SchemaObject] => {
    const { schema, ...described } = moveValuesToDescription(field);
    // Without an example, Swagger UI would invent a value. The service ignores an empty field.
    return [name, { ...schema, ...described, example: '' }];
  });
  const first = { ...(dry_run && { dry_run: { ...dry_run, default: true } }), file };
  form.properties = { ...first, ...Object.fromEntries(fields) };
  requestBody.content = { [FORM]: { schema: form } };
}

/**
 * Moves the default and the example of a schema into its description.
 * @param outer description and example of the parameter, which take precedence over the schema.
 */
function moveValuesToDescription(
  { default: usual, example, description, ...schema }: SchemaObject,
  outer: { description?: string; example?: unknown } = {},
): { schema: SchemaObject; description?: string } {
  const text = outer.description ?? description ?? '';
  const formatAsCode = (value: unknown) => `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
  const isMissingFromText = (value: unknown) => value !== undefined && !text.includes(formatAsCode(value));
  const shownExample = outer.example ?? example;
  const parts = [
    text,
    isMissingFromText(usual) && `Default: ${formatAsCode(usual)}.`,
    isMissingFromText(shownExample) && `For example ${formatAsCode(shownExample)}.`,
  ].filter(Boolean);
  return { schema, ...(parts.length > 0 && { description: parts.join(' ') }) };
}

function removeRepeatedErrorExamples({ responses }: Operation): void {
  const errors = Object.entries(responses).filter(([status]) => Number(status) >= 400);
  const [, kept] = errors.find(([status]) => status === '422') ?? errors[0] ?? [];
  for (const [, response] of errors) {
    delete response.headers;
    if (response !== kept) delete response.content;
  }
}
