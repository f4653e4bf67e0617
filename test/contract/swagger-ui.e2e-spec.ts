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

  test('Swagger UI names the credential that requests use', async () => {
    await page.waitForCredentials(/Not logged in/);
    await page.filter('sessions');
    expect(await page.readFirstScheme()).toMatch(/^api_key\s/);
    await page.authorize(API_KEY);
    await page.waitForCredentials(/^Requests use the entered API key\.$/);
    await page.reload();
    await page.waitForCredentials(/^Requests use the entered API key\.$/);
    const other = await SwaggerPage.load(PAGE_URL, browser);
    await other.waitForCredentials(/Not logged in/);
    await other.close();
    await page.removeKey();
    await page.waitForCredentials(/^Not logged in/);
    const login = await page.execute('logIn', { body: () => JSON.stringify(LOGIN) });
    await page.waitForCredentials(/^Requests use the session of admin\.$/);
    const me = await page.execute('getCurrentUser');
    expect(login.status).toBe('200');
    expect([me.status, parseBody(me).uuid]).toEqual(['200', parseBody(login).uuid]);
    await page.authorize(API_KEY);
    await page.waitForCredentials(
      /^Requests use the entered API key, which takes precedence over the session of admin\.$/,
    );
    await page.removeKey();
    const logout = await page.execute('logOut');
    expect([logout.status, parseBody(logout)]).toEqual(['200', {}]);
    await page.waitForCredentials(/^Not logged in/);
    expect(page.problems).toEqual([]);
    expect((await page.execute('getCurrentUser')).status).toBe('401');
  });

  test('Swagger UI shows why an API key is rejected', async () => {
    await page.filter('users');
    await page.authorize(`${API_KEY}x`);
    await page.waitForCredentials(/^The entered API key was rejected\. It is unknown, expired or revoked\.$/);
    await page.removeKey();
    const { body: made } = await app.key.post('/api_keys', { name: 'short-lived', scopes: ['users:read'] });
    await page.authorize(made.key as string);
    await page.waitForCredentials(/^Requests use the API key [0-9a-f]{12}\.$/);
    await app.key.delete(`/api_keys/${String(made.id)}`);
    expect((await page.execute('searchUsers')).status).toBe('401');
    await page.waitForCredentials(/^The API key [0-9a-f]{12} was rejected\. /);
    await page.removeKey();
    const { body: far } = await app.key.post('/api_keys', { name: 'far', networks: ['192.0.2.0/24'] });
    await page.authorize(far.key as string);
    await page.waitForCredentials(/^The API key [0-9a-f]{12} was rejected\. .*127\.0\.0\.1/);
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
