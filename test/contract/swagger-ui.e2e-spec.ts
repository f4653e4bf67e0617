import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { ADMIN_PASSWORD, API_KEY, TestApp } from '../support/app/app.js';
import type { Json } from '../support/app/client.js';
import { NO_BROWSER, PAGE_URL, SwaggerPage, launch } from '../support/browser/swagger-page.js';

/** The login example has a password that no user has. */
const withPassword = (prefilled: string) =>
  JSON.stringify({ ...(JSON.parse(prefilled) as object), password: ADMIN_PASSWORD });
/** The table of the examples creates the people of the examples. */
const someoneElse = (prefilled: string) => prefilled.replaceAll('jane.doe', 'kim.poe');
const json = (shown: { body: string }): Json => JSON.parse(shown.body);

jest.setTimeout(60_000);
if (NO_BROWSER) process.stderr.write(`Swagger UI is not tested in a browser: ${NO_BROWSER}.\n`);
const suite = NO_BROWSER ? describe.skip : describe;

suite(`Swagger UI in a browser${NO_BROWSER ? `: skipped, ${NO_BROWSER}` : ''}`, () => {
  let browser: Browser;
  let app: TestApp;
  let page: SwaggerPage;
  beforeAll(async () => {
    app = await TestApp.start({ BASE_URL: PAGE_URL });
    browser = await launch(app.url);
  });
  beforeEach(async () => void (page = await SwaggerPage.open(browser, PAGE_URL)));
  afterEach(() => page.close());
  afterAll(async () => {
    await browser.close();
    await app.end();
  });

  test('the page opens without an error and loads nothing from other servers', async () => {
    await page.screenshot('start');
    expect(page.problems).toEqual([]);
  });

  test('with a key entered in the dialog a user is created, found and changed', async () => {
    await page.authorize(API_KEY);
    const created = await page.execute('createUser', { body: someoneElse });
    expect(created.status).toBe('201');
    await page.screenshot('create', 'createUser');
    const { uuid } = json(created);

    const found = await page.execute('searchUsers');
    expect(found.status).toBe('200');
    await page.screenshot('search', 'searchUsers');
    expect(json(found).Results).toHaveLength(json(found).Count);

    const changed = await page.execute('updateUser', { fill: { user_id: uuid } });
    expect(changed.status).toBe('200');
    expect(json(changed).uuid).toBe(uuid);
    await page.screenshot('change', 'updateUser');
    expect((await app.key.get(`/users/${uuid}`)).body).toEqual(json(changed));
    expect(page.problems).toEqual([]);
  });

  test('a search with what is prefilled finds the users that there are', async () => {
    await page.authorize(API_KEY);
    const shown = json(await page.execute('searchUsers'));
    expect(shown).toEqual((await app.key.get('/users/search')).body);
  });

  test('a login in the page is a session: the own profile is available until the logout', async () => {
    await page.authorize(API_KEY);
    await page.unauthorize();
    const login = await page.execute('logIn', { body: withPassword });
    expect([login.status, json(login).username]).toEqual(['200', 'admin']);
    const me = await page.execute('getCurrentUser');
    expect([me.status, json(me).uuid]).toEqual(['200', json(login).uuid]);
    await page.screenshot('me', 'getCurrentUser');
    const logout = await page.execute('logOut');
    expect([logout.status, json(logout)]).toEqual(['200', {}]);
    expect(page.problems).toEqual([]);
    expect((await page.execute('getCurrentUser')).status).toBe('401');
  });

  test('one error has an example, which is its own: all errors have that form', async () => {
    const answers = await page.documented('updateUser');
    const errors = answers.filter(({ status }) => Number(status) >= 400);
    expect(errors.length).toBeGreaterThan(8);
    const [shown, ...others] = errors.filter(({ body }) => body !== '');
    expect([shown?.status, json(shown ?? { body: '{}' }).status, others]).toEqual(['422', 422, []]);
  });
});
