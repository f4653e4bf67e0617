import { beforeAll, expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SURNAMES } from '../../samples/names.js';
import type { Json } from '../support/app/client.js';
import type { ConsolePage } from '../support/browser/console-page.js';
import { describeConsole } from '../support/browser/console-service.js';
import { csv, runImport } from '../support/app/imports.js';
import { refreshStatistics, seedUsers, seededUser, seededUuid } from '../support/app/seed.js';

const USERS = 1500;
const ROWS = 1200;
/** Maximum number of elements on a page, which may render only the rows of its list. */
const MAX_ELEMENTS = 3000;
const A_USER = seededUuid(777);

const LINES = Array.from({ length: ROWS }, (_, n) => {
  const { external_id: id, username } = seededUser(n + 100);
  return `${id},${username},${username}@example.net`;
});
const FILE = csv('ExternalId,Username,Email', ...LINES);

describeConsole(`the console with ${USERS} users and a plan of ${ROWS} rows`, (service) => {
  let run: Json;
  beforeAll(async () => {
    await seedUsers(service.app, 0, USERS);
    await refreshStatistics(service.app);
    run = await runImport(service.key, FILE);
    expect([run.state, run.counts.updated]).toEqual(['needs_approval', ROWS]);
  });

  const countElements = (page: ConsolePage): Promise<number> => page.page.locator('*').count();

  test('no console page renders more than 3,000 elements', async () => {
    const page = await service.openAsAdmin();
    const ofUser = ['', '?tab=history'].map((view) => `/users/${A_USER}${view}`);
    const ofUsers = ['/users', `/users?q=${SURNAMES[3] ?? ''}`, '/users?sort=email&order=desc', ...ofUser];
    const ofRun = ['', '?outcome=updated', '?view=fields'].map((view) => `/imports/${run.id}${view}`);
    for (const path of ['', ...ofUsers, '/imports', '/schedule', ...ofRun, '/groups', '/keys', '/audit']) {
      await page.goto(`/console${path}`);
      await page.waitUntilLoaded();
      const elements = await countElements(page);
      expect([path, elements, elements < MAX_ELEMENTS]).toEqual([path, elements, true]);
    }
  });

  test('the preview of a long import file renders only its first rows', async () => {
    const path = join(service.folder, 'large.csv');
    writeFileSync(path, FILE);
    const page = await service.openAsAdmin('/console/imports/new');
    await page.waitUntilLoaded();
    await page.page.setInputFiles('input[type=file]', path);
    await page.waitForText(/^No users are changed until/);
    expect(await countElements(page)).toBeLessThan(MAX_ELEMENTS);
  });
});
