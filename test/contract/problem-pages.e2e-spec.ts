import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { CATALOGUE } from '../../src/common/errors.js';
import { TestApp } from '../support/app/app.js';

let app: TestApp;
beforeAll(async () => void (app = await TestApp.start()));
afterAll(() => app.end());

test.each(Object.entries(CATALOGUE))(
  '/problems/%s is a page that explains the code',
  async (code, { status, title }) => {
    const page = await app.nobody.raw('GET', `/problems/${code}`);
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toMatch(/^text\/html/);
    for (const part of [code, String(status), title]) expect(page.text).toContain(part);
    expect(page.text).not.toContain('`');
  },
);

test.each(['nothing', 'constructor', 'toString', '__proto__', 'hasOwnProperty', '', 'internal/x', '%00'])(
  '/problems/%s is not found',
  async (code) => {
    const page = await app.nobody.raw('GET', `/problems/${code}`);
    expect([page.status, page.body?.code]).toEqual([404, 'not_found']);
  },
);
