import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { ADMIN_PASSWORD, API_KEY, TestApp } from './support/app.js';
import type { Json } from './support/client.js';
import { create } from './support/factories.js';
import { NO_BROWSER, SwaggerPage, launch } from './support/swagger-page.js';

interface Operation {
  operationId: string;
  security?: object[];
  parameters?: { name: string; in: string }[];
  requestBody?: { content: Record<string, { examples?: object }> };
  responses: object;
}
const document = JSON.parse(readFileSync(new URL('../docs/openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
};

/** Every operation with every example that its body offers: [what, operation, example]. */
const EXAMPLES = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).flatMap(([method, operation]) => {
    const offered = Object.values(operation.requestBody?.content ?? {}).flatMap(({ examples }) =>
      Object.keys(examples ?? {}),
    );
    const names: (string | undefined)[] = offered.length > 0 ? offered : [undefined];
    return names.map((example): [string, Operation, string | undefined] => {
      const what = `${method.toUpperCase()} ${path.replace('/api/0.3', '')}${example ? ` (${example})` : ''}`;
      return [what, operation, example];
    });
  }),
);

/** The example of a login holds a password that is nobody's. */
const withPassword = (prefilled: string) =>
  JSON.stringify({ ...(JSON.parse(prefilled) as object), password: ADMIN_PASSWORD });
/** The table below creates the people of the examples. */
const someoneElse = (prefilled: string) => prefilled.replaceAll('jane.doe', 'kim.poe');
const json = (shown: { body: string }): Json => JSON.parse(shown.body);
const OF_SESSIONS = /^(UsersController_me|SessionsController_logout)$/;

jest.setTimeout(60_000);
if (NO_BROWSER) process.stderr.write(`Swagger UI is not tested in a browser: ${NO_BROWSER}.\n`);
const suite = NO_BROWSER ? describe.skip : describe;

suite(`Swagger UI in a browser${NO_BROWSER ? `: skipped, ${NO_BROWSER}` : ''}`, () => {
  let browser: Browser;
  let app: TestApp;
  let page: SwaggerPage;
  beforeAll(async () => {
    app = await TestApp.start();
    browser = await launch();
  });
  beforeEach(async () => void (page = await SwaggerPage.open(browser, app.url)));
  afterEach(() => page.close());
  afterAll(async () => {
    await browser.close();
    await app.end();
  });

  test('the page opens without an error, and asks no other server for anything', async () => {
    await page.screenshot('start');
    expect(page.problems).toEqual([]);
  });

  test('with a key told in the dialog a user is created, found and changed', async () => {
    await page.authorize(API_KEY);
    const created = await page.execute('UsersController_create', { body: someoneElse });
    expect(created.status).toBe('201');
    await page.screenshot('create', 'UsersController_create');
    const { uuid } = json(created);

    const found = await page.execute('UsersController_search');
    expect(found.status).toBe('200');
    await page.screenshot('search', 'UsersController_search');
    expect(json(found).Results).toHaveLength(json(found).Count);

    const changed = await page.execute('UsersController_change', { fill: { user_id: uuid } });
    expect(changed.status).toBe('200');
    expect(json(changed).uuid).toBe(uuid);
    await page.screenshot('change', 'UsersController_change');
    expect((await app.key.get(`/users/${uuid}`)).body).toEqual(json(changed));
    expect(page.problems).toEqual([]);
  });

  test('a search with what is prefilled finds the users that there are', async () => {
    await page.authorize(API_KEY);
    const shown = json(await page.execute('UsersController_search'));
    expect(shown).toEqual((await app.key.get('/users/search')).body);
  });

  test('a login in the page is a session: the own profile is there until the logout', async () => {
    await page.authorize(API_KEY);
    await page.unauthorize();
    const login = await page.execute('SessionsController_login', { body: withPassword });
    expect([login.status, json(login).username]).toEqual(['200', 'admin']);
    const me = await page.execute('UsersController_me');
    expect([me.status, json(me).uuid]).toEqual(['200', json(login).uuid]);
    await page.screenshot('me', 'UsersController_me');
    const logout = await page.execute('SessionsController_logout');
    expect([logout.status, json(logout)]).toEqual(['200', {}]);
    expect(page.problems).toEqual([]);
    expect((await page.execute('UsersController_me')).status).toBe('401');
  });

  test('every error that an operation may answer is shown with an example of its own', async () => {
    const answers = await page.documented('UsersController_change');
    const errors = answers.filter(({ status }) => Number(status) >= 400);
    expect(errors.length).toBeGreaterThan(8);
    const shown = errors.map((error) => [error.status, String(json(error).status)]);
    expect(shown).toEqual(errors.map(({ status }) => [status, status]));
  });

  test.each(EXAMPLES)('%s works as prefilled', async (_what, operation, example) => {
    const user = await create(app.key);
    const { operationId: id, security, parameters = [], responses } = operation;
    if (OF_SESSIONS.test(id)) await page.execute('SessionsController_login', { body: withPassword });
    else if (security) await page.authorize(API_KEY);
    const ids = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
    const shown = await page.execute(id, {
      ...(example !== undefined && { example }),
      fill: Object.fromEntries(ids.map((name) => [name, String(user.uuid)])),
      ...(id === 'SessionsController_login' && { body: withPassword }),
    });
    expect(shown.status).toBe(Object.keys(responses)[0]);
    expect(page.problems).toEqual([]);
  });
});
