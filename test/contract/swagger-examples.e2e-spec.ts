import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import type { Browser } from 'playwright-core';
import { ADMIN_PASSWORD, API_KEY, TestApp } from '../support/app.js';
import { create } from '../support/factories.js';
import { aGroup } from '../support/groups.js';
import { csv, imported } from '../support/imports.js';
import { NO_BROWSER, PAGE_URL, SwaggerPage, launch } from '../support/swagger-page.js';

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
const OF_SESSIONS = /^(UsersController_me|SessionsController_logout)$/;

/** Parameters of a path that name no record: their example is one of the few values that there are. */
const FIXED = ['type', 'urn'];

/** One that has been applied can be undone; one that is planned, everything else. */
async function anImport({ key }: TestApp, operationId: string): Promise<string> {
  const unique = randomUUID();
  const file = csv('ExternalId,Username,Email', `${unique},${unique},${unique}@example.org`);
  const dryRun = String(!operationId.endsWith('revert'));
  return (await imported(key, file, `dry_run=${dryRun}`)).id;
}

/** A record for a path to name, by the name of its parameter. */
async function idFor(app: TestApp, parameter: string, operationId: string): Promise<string> {
  if (parameter === 'import_id') return anImport(app, operationId);
  if (parameter === 'key_id') return (await app.key.post('/api_keys', { name: 'to be revoked' })).body.id;
  if (parameter === 'name') {
    await app.key.put('/import_profiles/example', { columns: { Nr: 'ExternalId' } });
    return 'example';
  }
  const isGroup = parameter === 'group_id' || operationId.startsWith('ScimGroups');
  if (isGroup) return (await aGroup(app)).uuid;
  if (parameter === 'session_id') {
    await app.login();
    return (await app.key.get('/sessions?limit=1')).body.Results[0].id;
  }
  return (await create(app.key)).uuid;
}

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
    const { operationId: id, security, parameters = [], responses } = operation;
    const page = needsKey(security) && !OF_SESSIONS.test(id) ? withKey : withoutKey;
    if (OF_SESSIONS.test(id)) {
      await page.execute('SessionsController_login', { body: withPassword });
      await page.fold('SessionsController_login');
    }
    const ids = parameters
      .filter((parameter) => parameter.in === 'path' && !FIXED.includes(parameter.name))
      .map(({ name }) => name);
    const fill = await Promise.all(ids.map(async (name) => [name, await idFor(app, name, id)] as const));
    const shown = await page.execute(id, {
      ...(example !== undefined && { example }),
      fill: Object.fromEntries(fill),
      ...(id === 'SessionsController_login' && { body: withPassword }),
    });
    await page.fold(id);
    expect(shown.status).toBe(Object.keys(responses)[0]);
    expect(page.problems).toEqual([]);
  });
});
