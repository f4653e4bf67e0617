import { describe, expect, test } from '@jest/globals';
import { CATALOGUE, type ErrorCode } from '../../src/platform/common/errors.js';
import { DOCUMENT, OPERATIONS } from '../support/app/operations.js';

/** Operation ids, which are method names in generated clients. Add new ids, and never change or remove an id. */
const NAMES = `
addScheduledFile applyImport cancelImport checkLiveness checkReadiness confirmSession createApiKey createScimGroup
createScimUser createUser deleteImportProfile deleteScimGroup deleteScimUser deleteUser downloadFailedRows
downloadImportTemplate endSession endUserSessions exportAuditEvents exportUsers generatePassword getCurrentUser getGroup
getImport getImportProfile getImportSchedule getMetrics getScimConfig getScimGroup getScimResourceType getScimSchema
getScimUser getStatistics getStatus getUser listApiKeys listAuditEvents listDeletedUsers listGroups
listImportProfiles listImportRows listImports listRoles listScimGroups listScimResourceTypes listScimResources
listScimSchemas listScimUsers listSessions logIn logOut patchScimGroup patchScimUser previewImport
rejectImport replaceScimGroup replaceScimUser resetApiKeyFuse restoreUser revertImport revokeApiKey runScimBulk
saveImportProfile searchScimGroups searchScimResources searchScimUsers searchUsers setGroupRoles startImport
takeScheduledFiles updateUser watchImport
`
  .trim()
  .split(/\s+/);

test('the OpenAPI file has exactly the published operation ids', () => {
  expect(OPERATIONS.map(({ operationId }) => operationId).sort()).toEqual(NAMES);
});

const ERRORS = OPERATIONS.flatMap(({ operationId, path, responses }) =>
  Object.entries(responses)
    .filter(([status]) => Number(status) >= 400)
    .map(([status, response]) => ({ operationId, isScim: path.startsWith('/scim/'), status, response })),
);
const isCode = (name: string): name is ErrorCode => Object.hasOwn(CATALOGUE, name);

test.each(ERRORS)('$operationId documents the codes of $status errors', ({ isScim, status, response }) => {
  const [content] = Object.values(response.content ?? {});
  const [base, { properties }] = content?.schema.allOf ?? [];
  if (isScim) {
    expect(base.$ref).toMatch(/\/ScimErrorDto$/);
    expect(properties.status.enum).toEqual([status]);
    return;
  }
  expect(base.$ref).toMatch(/\/ProblemDto$/);
  const codes: string[] = properties.code.enum;
  expect(codes.join(', ')).toBe(response.description);
  for (const code of codes) expect(isCode(code) && CATALOGUE[code].status).toBe(Number(status));
});

describe('CSV files', () => {
  const withFile = OPERATIONS.filter(({ requestBody }) => requestBody?.content['text/csv']);

  test.each(withFile)('are accepted by $operationId as text or in a form', (operation) => {
    const { 'text/csv': text, 'multipart/form-data': form } = operation.requestBody?.content ?? {};
    expect(text?.schema).toEqual({ type: 'string', maxLength: expect.any(Number) });
    const { file, ...options } = (form?.schema.properties ?? {}) as Record<string, object>;
    expect(file).toMatchObject({ type: 'string', format: 'binary', maxLength: text?.schema.maxLength });
    const query = operation.parameters.filter((parameter) => parameter.in === 'query');
    expect(Object.keys(options)).toEqual(query.map(({ name }) => name));
    const schemas = Object.fromEntries(query.map(({ name, schema }) => [name, schema]));
    const unsaved = operation.operationId === 'previewImport' && { profile: { type: 'object' } };
    expect(options).toMatchObject({ ...schemas, ...unsaved });
    expect(form?.schema.required).toEqual(['file']);
  });

  test('are documented as a string in every response', () => {
    const files = OPERATIONS.flatMap(({ responses }) => responses['200']?.content?.['text/csv'] ?? []);
    expect(files.length).toBeGreaterThan(3);
    for (const { schema } of files) expect(schema).toEqual({ type: 'string' });
  });
});

test('every named schema of the OpenAPI file is used', () => {
  const text = JSON.stringify(DOCUMENT);
  for (const name of Object.keys(DOCUMENT.components.schemas)) {
    expect([name, text.includes(`"#/components/schemas/${name}"`)]).toEqual([name, true]);
  }
});
