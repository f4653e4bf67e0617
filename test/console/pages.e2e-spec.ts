import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { ConsolePage, NARROW, WIDE } from '../support/browser/console-page.js';
import { PATHS, addresses } from '../support/browser/console-routes.js';
import { ConsoleService, withBrowser } from '../support/browser/console-service.js';
import { csv, imported } from '../support/app/imports.js';

const LOOKS = ['light', 'dark'] as const;
const SIZES = { wide: WIDE, narrow: NARROW };

withBrowser('every page', () => {
  jest.setTimeout(180_000);
  let service: ConsoleService;
  const ids: Record<string, string> = {};
  beforeAll(async () => {
    service = await ConsoleService.start();
    const file = (domain: string): string =>
      csv(
        'ExternalId,Username,Email,Forename,Surname',
        ...['ada', 'bela', 'cleo', 'dora', 'emil'].map(
          (name, n) => `HR-${n},${name},${name}@${domain},${name},Of ${name}`,
        ),
      );
    await imported(service.key, file('example.org'));
    ids['/imports/:id'] = (await imported(service.key, file('example.net'))).id;
    const { headers } = service.key;
    const made = await fetch(`${service.url}/scim/v2/Groups`, {
      method: 'POST',
      headers: { ...(headers as Record<string, string>), 'content-type': 'application/scim+json' },
      body: JSON.stringify({ displayName: 'Newsroom' }),
    });
    ids['/groups/:id'] = ((await made.json()) as { id: string }).id;
    ids['/users/:id'] = (await service.key.get('/users/search?username=ada')).body.Results[0].uuid;
  });
  afterAll(() => service.end());

  test('is in the table, and the test has an id for each that needs one', () => {
    expect(PATHS.length).toBeGreaterThan(4);
    expect(PATHS.filter((path) => path.includes(':') && !(path in ids))).toEqual([]);
  });

  // Colours do not depend on the width.
  test.each([
    ['light', 'wide'],
    ['dark', 'wide'],
    ['light', 'narrow'],
  ] as const)('has no fault that axe-core finds, and no width of its own (%s, %s)', async (look, size) => {
    const page = await service.admin('/console', { colorScheme: look, viewport: SIZES[size] });
    for (const [name, address] of addresses(ids)) {
      await page.goto(address);
      await page.settled();
      expect([address, await page.violations()]).toEqual([address, []]);
      expect([address, await page.overflows()]).toEqual([address, false]);
      await page.picture(`${name}-${look}-${size}`);
    }
    expect(page.problems).toEqual([]);
    await page.close();
  });

  test.each(LOOKS)('so has "Sign in" (%s)', async (look) => {
    for (const viewport of Object.values(SIZES)) {
      const page = await ConsolePage.open(service.browser, '/console', { colorScheme: look, viewport });
      await page.titled('Sign in to Rollcall');
      await page.page.getByText('How do I get in?').click();
      expect(await page.violations()).toEqual([]);
      expect(await page.overflows()).toBe(false);
      await page.picture(`sign-in-${look}-${viewport.width}`);
      await page.close();
    }
  });

  test('an address that is none says so', async () => {
    const page = await service.admin('/console/nowhere');
    await page.titled('Page not found');
    expect(await page.violations()).toEqual([]);
    await page.goto('/console/users/0198f3a2-5d1c-7c4e-9a51-3f2b8c6d7e10');
    await page.page.getByRole('alert').waitFor();
    expect(await page.violations()).toEqual([]);
    await page.close();
  });

  test('is reached with the keyboard alone, and takes the focus to its title', async () => {
    const page = await service.admin('/console/users');
    await page.page.reload();
    await page.titled('Users');
    const { keyboard } = page.page;
    const focused = (): Promise<string> => page.page.locator(':focus').innerText();
    await keyboard.press('Tab');
    expect(await focused()).toBe('Skip to the content');
    for (let steps = 0; steps < 10 && (await focused()) !== 'Imports'; steps++) await keyboard.press('Tab');
    await keyboard.press('Enter');
    await page.titled('Imports');
    expect(await focused()).toBe('Imports');
    await page.close();
  });

  test('has its navigation behind a button in a narrow window', async () => {
    const page = await service.admin('/console/users', { viewport: NARROW });
    await page.titled('Users');
    const link = page.page.getByRole('link', { name: 'Imports' });
    expect(await link.isVisible()).toBe(false);
    await page.button('Menu').click();
    expect(await page.violations()).toEqual([]);
    await link.click();
    await page.titled('Imports');
    expect(await link.isVisible()).toBe(false);
    await page.close();
  });

  test('shows times in the zone of the reader', async () => {
    for (const [timezoneId, zone] of [
      ['Asia/Tokyo', /GMT\+9|JST/],
      ['America/New_York', /GMT-[45]|E[SD]T/],
    ] as const) {
      const page = await service.admin(`/console/users/${ids['/users/:id'] ?? ''}`, { timezoneId });
      expect(await page.page.locator('time').first().getAttribute('title')).toMatch(zone);
      await page.close();
    }
  });
});
