import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { ADMIN_PASSWORD, API_KEY, TestApp } from '../support/app.js';
import { idFor } from '../support/operations.js';
import { ROOT } from '../support/process.js';
import { NO_BROWSER, PAGE_URL, SwaggerPage, launch } from '../support/swagger-page.js';

const FORM = 'multipart/form-data';

interface Operation {
  operationId: string;
  security?: object[];
  parameters?: { name: string; in: string }[];
  requestBody?: { content: Record<string, { examples?: object }> };
  responses: object;
}
const document = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8')) as {
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

/** A public operation has an empty security requirement. */
const needsKey = (security: object[] = []) => security.some((scheme) => Object.keys(scheme).length > 0);

/** The login example has a password that no user has. */
const withPassword = (prefilled: string) =>
  JSON.stringify({ ...(JSON.parse(prefilled) as object), password: ADMIN_PASSWORD });
const OF_SESSIONS = /^(getCurrentUser|logOut)$/;

/** Parameters of a path that name no record: their example is one of the few values that there are. */
const FIXED = ['type', 'urn'];

jest.setTimeout(60_000);
if (NO_BROWSER) process.stderr.write(`Swagger UI is not tested in a browser: ${NO_BROWSER}.\n`);
const suite = NO_BROWSER ? describe.skip : describe;

suite(`the examples of Swagger UI in a browser${NO_BROWSER ? `: skipped, ${NO_BROWSER}` : ''}`, () => {
  let browser: Browser;
  let app: TestApp;
  /** One page with a key entered in its dialog, and one without where a person logs in. */
  let withKey: SwaggerPage;
  let withoutKey: SwaggerPage;
  beforeAll(async () => {
    app = await TestApp.start({ BASE_URL: PAGE_URL });
    browser = await launch(app.url);
    withKey = await SwaggerPage.open(browser, PAGE_URL);
    await withKey.authorize(API_KEY);
    withoutKey = await SwaggerPage.open(browser, PAGE_URL);
  });
  afterAll(async () => {
    await browser.close();
    await app.end();
  });

  test.each(EXAMPLES)('%s works as prefilled', async (_what, operation, example) => {
    const { operationId: id, security, parameters = [], responses, requestBody } = operation;
    const page = needsKey(security) && !OF_SESSIONS.test(id) ? withKey : withoutKey;
    if (OF_SESSIONS.test(id)) {
      await page.execute('logIn', { body: withPassword });
      await page.fold('logIn');
    }
    const ids = parameters
      .filter((parameter) => parameter.in === 'path' && !FIXED.includes(parameter.name))
      .map(({ name }) => name);
    const fill = await Promise.all(ids.map(async (name) => [name, await idFor(app, name, id)] as const));
    const shown = await page.execute(id, {
      ...(example !== undefined && { example }),
      fill: Object.fromEntries(fill),
      ...(id === 'logIn' && { body: withPassword }),
      ...(requestBody?.content[FORM] && { file: `${ROOT}samples/users.csv` }),
    });
    await page.fold(id);
    expect(shown.status).toBe(Object.keys(responses)[0]);
    expect(page.problems).toEqual([]);
  });
});
