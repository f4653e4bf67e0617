import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { ADMIN_PASSWORD, API_KEY, setUpApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { csv, runImport } from '../support/app/imports.js';
import { DOCUMENT } from '../support/app/operations.js';
import { NO_BROWSER, PAGE_URL, SwaggerPage, launchBrowser } from '../support/browser/swagger-page.js';

/** Tests the page in a browser. `swagger-document` and `openapi-examples` test the document that it shows. */
const TAGS = ['sessions', 'users', 'groups', 'imports', 'api keys', 'audit', 'scim', 'status'];
const PEOPLE = ['ada', 'ben', 'cleo', 'dan', 'eve', 'finn', 'gwen', 'hugo', 'iris', 'jon', 'kay', 'leo'];
/** Operations with many fields, and the maximum height of each in pixels when it is open. */
const TALLEST: [tag: string, operation: string, pixels: number][] = [
  ['imports', 'startImport', 4000],
  ['users', 'searchUsers', 3700],
  ['users', 'createUser', 3500],
  ['imports', 'getImport', 3500],
];
const LOGIN = { username: 'admin', password: ADMIN_PASSWORD };
const parseBody = (shown: { body: string }): Json => JSON.parse(shown.body);

if (NO_BROWSER) process.stderr.write(`Swagger UI is not tested in a browser: ${NO_BROWSER}.\n`);
const suite = NO_BROWSER ? describe.skip : describe;

suite(`Swagger UI in a browser${NO_BROWSER ? `: skipped, ${NO_BROWSER}` : ''}`, () => {
  let browser: Browser;
  const app = setUpApp({ BASE_URL: PAGE_URL });
  let page: SwaggerPage;
  beforeAll(async () => void (browser = await launchBrowser(app.url)));
  beforeEach(async () => void (page = await SwaggerPage.load(PAGE_URL, browser)));
  afterEach(() => page.close());
  afterAll(() => browser.close());

  test('Swagger UI opens without errors or external requests', async () => {
    expect(await page.readTags()).toEqual(TAGS);
    expect(page.problems).toEqual([]);
  });

  test('Swagger UI prefills no optional field but dry_run', async () => {
    for (const [tag, operation, most] of TALLEST) {
      await page.filter(tag);
      const { height, fields } = await page.open(operation);
      const filled = fields.filter(({ isRequired, value }) => !isRequired && value !== '' && value !== '--');
      expect([operation, filled.map(({ name, value }) => `${name}=${value}`)]).toEqual([
        operation,
        operation === 'startImport' ? ['dry_run=true'] : [],
      ]);
      expect([operation, height < most || height]).toEqual([operation, true]);
      await page.collapse(operation);
    }
  });

  test('Swagger UI shows parameters with fixed values as select lists', async () => {
    const parameters = DOCUMENT.paths['/api/0.3/users/search']?.['get']?.parameters ?? [];
    const fixed = parameters.flatMap(({ name, schema }) => {
      const values: string[] | undefined = schema.enum ?? schema.items?.enum;
      return values ? [{ name, values }] : [];
    });
    expect(fixed.length).toBeGreaterThan(2);
    await page.filter('users');
    const { fields } = await page.open('searchUsers');
    for (const { name, values } of fixed)
      expect(fields.find((field) => field.name === name)?.choices).toEqual(expect.arrayContaining(values));
  });

  test('the Swagger UI examples create, find and update a user', async () => {
    await page.authorize(API_KEY);
    await page.filter('users');
    const created = await page.execute('createUser');
    expect(created.status).toBe('201');
    const { uuid } = parseBody(created);
    const found = await page.execute('searchUsers');
    expect([found.status, found.url]).toEqual(['200', `${PAGE_URL}/api/0.3/users/search`]);
    expect(parseBody(found)).toEqual((await app.key.get('/users/search')).body);
    const changed = await page.execute('updateUser', { fill: { user_id: uuid } });
    expect(changed.status).toBe('200');
    expect((await app.key.get(`/users/${uuid}`)).body).toEqual(parseBody(changed));
    expect(page.problems).toEqual([]);
  });

  test('Swagger UI sends the entered API key, and the session after a login', async () => {
    const executeIn = (tag: string, operation: string, change = {}) =>
      page.filter(tag).then(() => page.execute(operation, change));
    expect(await page.readFirstScheme()).toMatch(/^api_key\s/);
    const login = await executeIn('sessions', 'logIn', { body: () => JSON.stringify(LOGIN) });
    const me = await executeIn('users', 'getCurrentUser');
    expect([me.status, parseBody(me).uuid]).toEqual(['200', parseBody(login).uuid]);
    expect(page.problems).toEqual([]);
    await page.authorize(API_KEY);
    expect((await page.execute('getCurrentUser')).status).toBe('404'); // an API key is not a user
    await page.removeKey();
    const logout = await executeIn('sessions', 'logOut');
    expect([logout.status, parseBody(logout)]).toEqual(['200', {}]);
    expect((await executeIn('users', 'getCurrentUser')).status).toBe('401');
  });

  test('Swagger UI shows the guard that an import has hit', async () => {
    const people = (domain: string): string =>
      csv(
        'ExternalId,Username,Email,Forename,Surname',
        ...PEOPLE.map((name, n) => `HR-${n},${name},${name}@${domain},${name},Doe${n}`),
      );
    await runImport(app.key, people('example.org'));
    const { id } = await runImport(app.key, people('example.net'));
    await page.authorize(API_KEY);
    await page.filter('imports');
    const shown = await page.execute('getImport', { fill: { import_id: id } });
    const run = parseBody(shown);
    const hits = new Set(run.guards.flatMap(({ hit, field }: Json) => (hit ? field : [])));
    expect({ status: shown.status, state: run.state, hits }).toEqual({
      status: '200',
      state: 'needs_approval',
      hits: new Set(['email']),
    });
    await page.takeResponsePicture('import', '@example.net');
    await page.collapse('getImport');
    await page.filter('users');
    const found = await page.execute('searchUsers', { fill: { fulltext_search: 'ada' } });
    expect([found.status, parseBody(found).Count]).toEqual(['200', 1]);
    await page.takePicture('swagger', 'searchUsers');
  });
});
