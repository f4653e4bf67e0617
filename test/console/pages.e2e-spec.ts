import { beforeAll, expect, test } from '@jest/globals';
import { type ConsolePage, NARROW, WIDE } from '../support/browser/console-page.js';
import { PATHS, listPages } from '../support/browser/console-routes.js';
import { describeConsole } from '../support/browser/console-service.js';
import { create } from '../support/data/factories.js';
import { HEAD, people } from '../support/data/user-file.js';
import { csv, runImport } from '../support/app/imports.js';
import { scimOf } from '../support/app/scim.js';
import { aScimGroup } from '../support/app/scim-groups.js';

/** Combinations to check, with the rules whose result may differ. Colors do not depend on the width. */
const LOOKS = [
  ['light', 'wide', WIDE, 'all'],
  ['dark', 'wide', WIDE, 'colors'],
  ['light', 'narrow', NARROW, 'layout'],
] as const;

describeConsole('pages of the console', (service) => {
  const ids: Record<string, string> = { '/profiles/:name': 'okta' };
  beforeAll(async () => {
    const file = csv(`${HEAD},Forename,Surname`, ...people('HR-', 5, (n) => [`Ada ${n}`, 'Lovelace']));
    await runImport(service.key, file);
    const gone = await create(service.key);
    await service.key.delete(`/users/${gone.uuid}`);
    ids['/users/deleted/:id'] = gone.uuid;
    ids['/imports/:id'] = (await runImport(service.key, file.replaceAll('.org', '.net'))).id;
    const { id } = await aScimGroup(scimOf(service.app));
    ids['/groups/:id'] = String(id);
    ids['/users/:id'] = (await service.key.get('/users/search?username=HR-0')).body.Results[0].uuid;
  });

  test('the tests of console pages cover every path with a parameter', () => {
    expect(PATHS.length).toBeGreaterThan(4);
    expect(PATHS.filter((path) => path.includes(':') && !(path in ids))).toEqual([]);
  });

  /** Checks a page in each look and takes screenshots. */
  async function check(page: ConsolePage, name: string): Promise<void> {
    for (const [colorScheme, size, viewport, rules] of LOOKS) {
      await page.page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.page.setViewportSize(viewport);
      const look = [page.path, colorScheme, size];
      expect([...look, await page.findViolations(rules)]).toEqual([...look, []]);
      expect([...look, await page.hasOverflow()]).toEqual([...look, false]);
      await page.takePicture(`${name}-${colorScheme}-${size}`);
    }
  }

  test('each console page passes axe-core in light, dark and narrow layouts', async () => {
    const page = await service.openAsAdmin();
    for (const [name, address] of listPages(ids)) {
      await page.page.setViewportSize(WIDE);
      await page.goto(address);
      await page.waitUntilLoaded();
      await check(page, name);
    }
  });

  test('the sign-in page passes axe-core in every layout', async () => {
    const page = await service.open();
    await page.waitForTitle('Sign in to Rollcall');
    await page.page.getByText('How do I sign in?').click();
    await check(page, 'sign-in');
  });

  test('the console shows an error for an unknown path or user', async () => {
    const page = await service.openAsAdmin('/console/nowhere');
    await page.waitForTitle('Page not found');
    expect(await page.findViolations()).toEqual([]);
    await page.goto('/console/users/0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10');
    await page.page.getByRole('alert').waitFor();
    expect(await page.findViolations()).toEqual([]);
  });

  test('opening a console page with the keyboard focuses the page title', async () => {
    const page = await service.openAsAdmin('/console/users');
    await page.page.reload();
    await page.waitForTitle('Users');
    const { keyboard } = page.page;
    const getName = (): Promise<string> => page.page.locator(':focus').innerText();
    await keyboard.press('Tab');
    expect(await getName()).toBe('Skip to content');
    for (let steps = 0; steps < 10 && (await getName()) !== 'Imports'; steps++) await keyboard.press('Tab');
    await keyboard.press('Enter');
    await page.waitForTitle('Imports');
    expect(await getName()).toBe('Imports');
  });

  test('a narrow window hides the navigation until Menu is clicked', async () => {
    const page = await service.openAsAdmin('/console/users', { viewport: NARROW });
    await page.waitForTitle('Users');
    const link = page.page.getByRole('link', { name: 'Imports' });
    expect(await link.isVisible()).toBe(false);
    await page.button('Menu').click();
    expect(await page.findViolations()).toEqual([]);
    await link.click();
    await page.waitForTitle('Imports');
    expect(await link.isVisible()).toBe(false);
  });

  test('the console shows times in the time zone of the browser', async () => {
    for (const [timezoneId, zone] of [
      ['Asia/Tokyo', /GMT\+9|JST/],
      ['America/New_York', /GMT-[45]|E[SD]T/],
    ] as const) {
      const page = await service.openAsAdmin(`/console/users/${ids['/users/:id'] ?? ''}`, { timezoneId });
      expect(await page.page.locator('time').first().getAttribute('title')).toMatch(zone);
    }
  });
});
