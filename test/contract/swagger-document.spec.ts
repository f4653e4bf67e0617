import { expect, test } from '@jest/globals';
import type { OpenAPIObject } from '@nestjs/swagger';
import { toPageDocument } from '../../src/docs-page.js';
import { GUIDES } from '../../src/operations/health/guides.js';
import type { Json } from '../support/app/client.js';
import { DOCUMENT } from '../support/app/operations.js';

/** The document of the page at `/docs`, which differs from the OpenAPI file for clients. */
const page = toPageDocument(DOCUMENT as object as OpenAPIObject);
const operations: Json[] = Object.entries(page.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ ...(operation as object), method, path })),
);
const findOperation = (id: string): Json => operations.find(({ operationId }) => operationId === id);

test('optional parameters in Swagger UI have no default or example', () => {
  const filled = operations.flatMap(({ operationId, parameters = [] }) =>
    parameters
      .filter(
        ({ required, schema, example, examples }: Json) =>
          !required && (example ?? examples ?? schema.default ?? schema.example) !== undefined,
      )
      .map(({ name }: Json) => `${operationId} ${name}`),
  );
  expect(filled).toEqual([]);
});

test('the import form in Swagger UI begins with dry_run and file', () => {
  const { requestBody, parameters } = findOperation('startImport');
  expect(Object.keys(requestBody.content)).toEqual(['multipart/form-data']);
  const { properties } = requestBody.content['multipart/form-data'].schema;
  const [dryRun, file, ...options] = Object.entries<Json>(properties);
  expect([dryRun?.[0], dryRun?.[1].default, file?.[0]]).toEqual(['dry_run', true, 'file']);
  for (const [name, { default: value, example }] of options)
    expect({ name, value, example }).toEqual({ name, value: undefined, example: '' });
  expect(parameters.filter(({ name }: Json) => name in properties)).toEqual([]);
});

test('each operation in Swagger UI shows one error example', () => {
  for (const { operationId, responses } of operations) {
    const errors = Object.keys(responses).filter((status) => Number(status) >= 400);
    const shown = errors.filter((status) => responses[status].content !== undefined);
    expect([operationId, shown]).toEqual([
      operationId,
      errors.includes('422') ? ['422'] : errors.slice(0, 1),
    ]);
  }
});

test('the API description in Swagger UI links to every guide', () => {
  for (const name of Object.keys(GUIDES)) expect(page.info.description).toContain(`](/guides/${name})`);
});
