import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { Browser } from 'playwright-core';
import { forPeople } from '../../src/docs-page.js';
import { ADMIN_PASSWORD, API_KEY, TestApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { document } from '../support/app/contract.js';
import { csv, imported } from '../support/app/imports.js';
import { OperatorPage } from '../support/browser/operator-page.js';
import { NO_BROWSER, PAGE_URL, launch } from '../support/browser/swagger-page.js';

/** Swagger UI as the tool of operators: what one sees who has read nothing, and sends by pressing a button. */
jest.setTimeout(240_000);
const suite = NO_BROWSER ? describe.skip : describe;
const TAGS = ['sessions', 'users', 'groups', 'imports', 'api keys', 'audit', 'scim', 'status'];
const PEOPLE = ['ada', 'ben', 'cleo', 'dan', 'eve', 'finn', 'gwen', 'hugo', 'iris', 'jon', 'kay', 'leo'];
/** Operations whose parameters are all optional, by tag. */
const LISTS = {
  users: ['searchUsers', 'listDeletedUsers', 'exportUsers'],
  imports: ['listImports', 'listImportProfiles'],
  sessions: ['listSessions'],
  groups: ['listGroups'],
  'api keys': ['listApiKeys'],
  audit: ['listAuditEvents', 'exportAuditEvents'],
  scim: ['listScimUsers', 'listScimGroups', 'listScimResources'],
} as const;
interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  example?: unknown;
  schema: { enum?: string[]; items?: { enum?: string[] }; default?: unknown; example?: unknown };
}
/** Of every operation that changes something. */
const HEADERS = new Set(['Idempotency-Key', 'X-Audit-Reason']);
/** Operations with many fields, and how many pixels each may take when it is opened. */
const TALLEST: [operation: string, pixels: number][] = [
  ['startImport', 4000],
  ['searchUsers', 3500],
  ['createUser', 3500],
  ['getImport', 3500],
];

test('the document of the page has no value of an optional parameter, which Swagger UI would fill in', () => {
  const filled = Object.values(forPeople(document as object as OpenAPIObject).paths).flatMap((item) =>
    (Object.values(item) as { operationId: string; parameters?: Parameter[] }[]).flatMap(
      ({ operationId, parameters = [] }) =>
        parameters
          .filter(
            ({ required, schema, example }) =>
              !required && (example ?? schema.default ?? schema.example) !== undefined,
          )
          .map(({ name }) => `${operationId} ${name}`),
    ),
  );
  expect(filled).toEqual([]);
});

suite(`Swagger UI for operators${NO_BROWSER ? `: skipped, ${NO_BROWSER}` : ''}`, () => {
  let browser: Browser;
  let app: TestApp;
  let page: OperatorPage;
  beforeAll(async () => {
    app = await TestApp.start({ BASE_URL: PAGE_URL });
    browser = await launch(app.url);
  });
  beforeEach(async () => void (page = await OperatorPage.open(browser, PAGE_URL)));
  afterEach(() => page.close());
  afterAll(async () => {
    await browser.close();
    await app.end();
  });

  test.each(TALLEST)(
    '%s: nothing optional is filled in but a dry run, and it is not long',
    async (operation, most) => {
      const { fields, filled, height } = await page.prefilled(operation);
      const takesFile = fields.includes('file');
      expect([filled, height < most || height]).toEqual([takesFile ? { dry_run: 'true' } : {}, true]);
      if (!takesFile) return;
      expect(fields.filter((name) => !HEADERS.has(name)).slice(0, 2)).toEqual(['dry_run', 'file']);
      expect(fields).toEqual(
        expect.arrayContaining(['mode', 'missing', 'dataset', 'profile', 'expected_rows']),
      );
    },
  );

  test('who presses "Execute" on a list sends no filter', async () => {
    await page.authorize(API_KEY);
    for (const [tag, lists] of Object.entries(LISTS)) {
      await page.filter(tag);
      for (const list of lists) expect(await page.requested(list)).toMatch(/^http:\/\/[^?]+$/);
    }
    expect(page.problems).toEqual([]);
  });

  test('operations are in the order of use, and those of a search have lists to choose from', async () => {
    expect(await page.tags()).toEqual(TAGS);
    const paths = await page.paths();
    const placeOf = (path: string): number => paths.indexOf(path);
    for (const [first, second] of [
      ['POST /api/0.3/sessions/login', 'GET /api/0.3/users/search'],
      ['GET /api/0.3/users/search', 'POST /api/0.3/users'],
      ['POST /api/0.3/users', 'GET /api/0.3/users/export.csv'],
      ['POST /api/0.3/imports', 'POST /api/0.3/imports/{import_id}/apply'],
      ['POST /api/0.3/imports/{import_id}/apply', 'POST /api/0.3/imports/{import_id}/revert'],
      ['POST /api/0.3/imports/{import_id}/revert', 'GET /api/0.3/import_profiles'],
    ] as const)
      expect([first, placeOf(first) >= 0 && placeOf(first) < placeOf(second)]).toEqual([first, true]);
    await page.filter('users');
    const choices = await page.choices('searchUsers');
    expect(choices['order']).toEqual(['--', 'asc', 'desc']);
    expect(choices['sort']).toEqual(expect.arrayContaining(['--', 'relevance', 'surname', 'updated']));
  });

  test('Authorize begins with the API key, which the tab keeps, and the page says who is logged in', async () => {
    await page.who(/Nobody is logged in/);
    expect(await page.firstScheme()).toMatch(/^api_key\s/);
    await page.authorize(API_KEY);
    await page.who(/^Requests use the entered API key\.$/);
    await page.reload();
    await page.who(/^Requests use the entered API key\.$/);
    const other = await OperatorPage.open(browser, PAGE_URL);
    await other.who(/Nobody is logged in/);
    await other.close();
    await page.unauthorize();
    await page.who(/^Nobody is logged in/);
    const login = { username: 'admin', password: ADMIN_PASSWORD };
    await page.execute('logIn', { body: () => JSON.stringify(login) });
    await page.who(/^Requests use the session of admin\.$/);
    await page.authorize(API_KEY);
    await page.who(/^Requests use the entered API key, which goes before the session of admin\.$/);
    await page.unauthorize();
    await page.execute('logOut');
    await page.who(/^Nobody is logged in/);
    expect(page.problems).toEqual([]);
  });

  test('a key that is wrong, or is revoked meanwhile, is not said to be used', async () => {
    await page.authorize(`${API_KEY}x`);
    await page.who(/^The entered API key is refused: it is unknown, expired or revoked\.$/);
    await page.unauthorize();
    const { body: made } = await app.key.post('/api_keys', { name: 'short-lived', scopes: ['users:read'] });
    await page.authorize(made.key as string);
    await page.who(/^Requests use the API key [0-9a-f]{12}\.$/);
    await app.key.delete(`/api_keys/${String(made.id)}`);
    await page.filter('users');
    expect((await page.execute('searchUsers')).status).toBe('401');
    await page.who(/^The API key [0-9a-f]{12} is refused: /);
    await page.unauthorize();
    const { body: far } = await app.key.post('/api_keys', { name: 'far', networks: ['192.0.2.0/24'] });
    await page.authorize(far.key as string);
    await page.who(/^The API key [0-9a-f]{12} is refused: .*127\.0\.0\.1/);
    await page.unauthorize();
  });

  test('the page leads to the guides', async () => {
    const links = await page.guides();
    expect(links.length).toBeGreaterThan(4);
    for (const link of links) expect((await app.nobody.raw('GET', link)).status).toBe(200);
  });

  test('parameters with fixed values are lists to choose from', async () => {
    const paths = Object.values(document.paths as object) as Record<
      string,
      { operationId: string; parameters?: Parameter[] }
    >[];
    const chosen = paths
      .flatMap((operations) => Object.values(operations))
      .flatMap(({ operationId, parameters = [] }) =>
        parameters
          .filter(({ in: place, schema }) => place === 'query' && (schema.enum ?? schema.items?.enum))
          .map(({ name, schema }) => ({
            operationId,
            name,
            values: schema.enum ?? schema.items?.enum ?? [],
          })),
      );
    expect(chosen.length).toBeGreaterThan(8);
    await page.filter('');
    for (const operation of ['searchUsers', 'listImports', 'listAuditEvents']) {
      const choices = await page.choices(operation);
      for (const { operationId, name, values } of chosen)
        if (operationId === operation)
          expect([operation, name, choices[name] ?? []]).toEqual([
            operation,
            name,
            expect.arrayContaining(values),
          ]);
      await page.fold(operation);
    }
  });

  test('an import waits for an approval, and the page shows why (the pictures of the documents)', async () => {
    const people = (domain: string): string =>
      csv(
        'ExternalId,Username,Email,Forename,Surname',
        ...PEOPLE.map((name, n) => `HR-${n},${name},${name}@${domain},${name},Doe${n}`),
      );
    await imported(app.key, people('example.org'));
    const { id } = await imported(app.key, people('example.net'));
    await page.authorize(API_KEY);
    await page.filter('imports');
    const shown = await page.execute('getImport', { fill: { import_id: id } });
    const run: Json = JSON.parse(shown.body);
    expect([
      shown.status,
      run.state,
      run.guards.flatMap(({ hit, field }: Json) => (hit ? field : [])),
    ]).toEqual(['200', 'needs_approval', ['email']]);
    await page.pictureOfAnswer('import', '@example.net');
    await page.fold('getImport');
    await page.filter('users');
    expect((await page.execute('searchUsers', { fill: { fulltext_search: 'ada' } })).status).toBe('200');
    await page.picture('swagger', '.opblock[id$="-searchUsers"]');
  });
});
