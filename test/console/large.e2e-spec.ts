import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SURNAMES } from '../../samples/names.js';
import { TestApp } from '../support/app/app.js';
import type { ConsolePage } from '../support/browser/console-page.js';
import { ConsoleService, withBrowser } from '../support/browser/console-service.js';
import { freshDatabase } from '../support/app/database.js';
import { csv, imported } from '../support/app/imports.js';
import { refreshStatistics, seedUsers, seededUser, seededUuid } from '../support/app/seed.js';

/** With CONSOLE_TIMINGS, the sizes of the table of docs/console.md, which has the time that scripts take. */
const { CONSOLE_TIMINGS } = process.env;
const [USERS, ROWS] = CONSOLE_TIMINGS ? [100_000, 50_000] : [3000, 2500];
/** Number of loads, of which the best one counts, because other programs run on the machine. */
const LOADS = CONSOLE_TIMINGS ? 3 : 1;
/** Elements of a page: it has rows for its list, not for the database. */
const MOST = 3000;
const SOMEBODY = seededUuid(777);

const LINES = Array.from({ length: ROWS }, (_, n) => {
  const { external_id: id, username } = seededUser(n + 100);
  return `${id},${username},${username}@example.net`;
});
const FILE = csv('ExternalId,Username,Email', ...LINES);

interface Load {
  /** Milliseconds of the longest task of the page's thread. Tasks below 50 are not reported. */
  longest: number;
  /** Milliseconds from its address to its last answer. */
  complete: number;
  elements: number;
}

withBrowser(`with ${USERS} users and a plan of ${ROWS} rows`, () => {
  jest.setTimeout(600_000);
  let service: ConsoleService;
  let page: ConsolePage;
  let run: string;
  beforeAll(async () => {
    const database = await freshDatabase();
    const app = await TestApp.on(database);
    await seedUsers(app, 0, USERS);
    await refreshStatistics(app);
    await app.stop();
    service = await ConsoleService.start({ DATABASE_URL: database.url }, database);
    run = (await imported(service.key, FILE)).id;
    page = await service.admin();
    await page.page.addInitScript(() => {
      const browser = globalThis as unknown as { longest: number };
      browser.longest = 0;
      new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) browser.longest = Math.max(browser.longest, duration);
      }).observe({ entryTypes: ['longtask'] as never[] });
    });
  });
  afterAll(async () => {
    await page.close();
    await service.end();
  });

  const measured = (): Promise<Load> =>
    page.page.evaluate(() => {
      const { longest, document } = globalThis as unknown as {
        longest: number;
        document: { querySelectorAll: (all: string) => { length: number } };
      };
      const ends = performance.getEntriesByType('resource').map((entry) => entry.startTime + entry.duration);
      return {
        longest,
        complete: Math.round(Math.max(...ends)),
        elements: document.querySelectorAll('*').length,
      };
    });

  /** Loads a page and measures it. With CONSOLE_TIMINGS, prints the best of some loads. */
  async function best(what: string, load: () => Promise<void>): Promise<Load> {
    const loads: Load[] = [];
    for (let each = 0; each < LOADS; each++) {
      await load();
      loads.push(await measured());
    }
    const [found] = loads.sort((a, b) => a.longest - b.longest || a.complete - b.complete);
    if (!found) throw new Error('nothing was loaded');
    if (CONSOLE_TIMINGS) process.stderr.write(`${what}: ${JSON.stringify(found)}\n`);
    return found;
  }

  test('the plan waits, with all its rows', async () => {
    const { state, counts } = (await service.key.get(`/imports/${run}`)).body;
    expect([state, counts]).toEqual(['needs_approval', expect.objectContaining({ updated: ROWS })]);
  });

  test.each([
    ['home', ''],
    ['users', '/users'],
    ['a word that thousands have', `/users?q=${SURNAMES[3] ?? ''}`],
    ['users by another order', '/users?sort=email&order=desc'],
    ['a user', `/users/${SOMEBODY}`],
    ['a history', `/users/${SOMEBODY}?tab=history`],
    ['imports', '/imports'],
    ['the plan', '/imports/:run'],
    ['the plan, one outcome', '/imports/:run?outcome=updated'],
    ['the plan by fields', '/imports/:run?view=fields'],
    ['groups', '/groups'],
    ['keys', '/keys'],
    ['audit', '/audit'],
  ])('%s has rows for its list, not for the database', async (name, path) => {
    const { elements } = await best(name, async () => {
      await page.goto(`/console${path.replace(':run', run)}`);
      await page.settled();
    });
    expect(elements).toBeLessThan(MOST);
  });

  test('the preview of a file has its first rows', async () => {
    const path = join(service.database.folder, 'large.csv');
    writeFileSync(path, FILE);
    const { elements } = await best('preview', async () => {
      await page.goto('/console/imports/new');
      await page.settled();
      await page.page.setInputFiles('input[type=file]', path);
      await page.page.getByRole('region', { name: 'First rows' }).waitFor();
    });
    expect(elements).toBeLessThan(MOST);
  });

  test('typing finds somebody among all', async () => {
    await page.goto('/console/users');
    await page.settled();
    await page.page.getByRole('searchbox', { name: 'Search' }).pressSequentially('u0002321', { delay: 30 });
    const rows = page.page.getByRole('row').filter({ hasText: 'u0002321@example.org' });
    await rows.waitFor();
    expect(page.problems).toEqual([]);
  });
});
