import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConsolePage } from '../support/browser/console-page.js';
import { listPages } from '../support/browser/console-routes.js';
import { describeConsole } from '../support/browser/console-service.js';
import { awaitRun } from '../support/app/imports.js';
import { people } from '../support/data/user-file.js';
import { scimOf } from '../support/app/scim.js';
import { aScimGroup } from '../support/app/scim-groups.js';

/** Text that would become an element if a page rendered it as markup. */
const EVIL = '<img data-evil src=x onerror=alert(1)>';
const BREAKOUT = `"'></a></td></script><svg data-evil onload=alert(1)>`;
const SCRIPT = 'javascript:alert(1)//';
const PASSWORD = 'plenty of markup';

/** Every stored text is rendered as text, so that it never creates an element, a URL or an event handler. */
describeConsole('markup in the console', (service) => {
  let page: ConsolePage;
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    const { key } = service;
    const profile = {
      username: `u${EVIL}`,
      email: 'evil@example.org',
      external_id: `id${BREAKOUT}`,
      firstname: EVIL,
      middle_name: BREAKOUT,
      surname: SCRIPT,
      known_as: EVIL,
      about_me: `${EVIL}${BREAKOUT}`,
      // Only URLs are accepted here.
      social_media: { linkedin: `https://example.org/?${encodeURI(EVIL)}` },
      authname: { saml: [EVIL] },
      roles: ['Organisational user'],
      password: PASSWORD,
    };
    const made = await key.post('/users', profile);
    expect([made.status, made.body]).toEqual([201, { uuid: made.body.uuid }]);
    ids['/users/:id'] = made.body.uuid;
    const why = { 'x-audit-reason': encodeURIComponent(`${EVIL}${BREAKOUT}`) };
    await key.put(`/users/${made.body.uuid}`, { known_as: BREAKOUT }, why);
    await key.post('/api_keys', { name: `${EVIL}${BREAKOUT}` });
    const browser = key.with({ 'user-agent': EVIL });
    await browser.post('/sessions/login', { username: EVIL, password: EVIL });
    const header = ['ExternalId,Username,Email,Forename'];
    const name = `"${EVIL}${BREAKOUT.replaceAll('"', '""')}"`;
    const rows = people('e', 8, () => [name]);
    const send = async (lines: string[]): Promise<string> => {
      const fileName = encodeURIComponent(`${EVIL}${BREAKOUT}.csv`);
      const headers = { 'content-type': 'text/csv', 'x-file-name': fileName };
      const sent = await key.send('POST', '/imports?dataset=evil', `${lines.join('\n')}\n`, headers);
      expect(sent.status).toBe(202);
      return (await awaitRun(key, sent.body.id)).id;
    };
    await send([...header, ...rows]);
    await send([`ExternalId,${EVIL}`, 'a,b']); // rejected, with the header in the reason
    await send([...header, `X-1,${SCRIPT},no address,${EVIL}`]); // a failed row, with its cells in the error
    ids['/imports/:id'] = await send([...header, ...rows.map((row) => row.replace('.org', '.net'))]);
    const group = { displayName: `${EVIL}${BREAKOUT}`, members: [{ value: made.body.uuid }] };
    const pattern = `${EVIL.replaceAll('/', '')}*`;
    await key.put('/import_profiles/marked', { columns: { [EVIL]: 'ExternalId' }, pattern });
    ids['/profiles/:name'] = 'marked';
    ids['/groups/:id'] = (await aScimGroup(scimOf(service.app), group)).id;
  });
  beforeEach(async () => void (page = await service.openAsAdmin('/console', { userAgent: EVIL })));

  /** Finds elements, links and event handlers that the text has created on the page. */
  const findInjected = (): Promise<string[]> =>
    page.page
      .locator('[data-evil], [onload], [onerror], a[href^="javascript:" i], iframe, main script')
      .evaluateAll((found) => found.map(({ outerHTML }) => outerHTML));

  test('stored markup is rendered as text on every console page', async () => {
    let shown = 0;
    for (const [, address] of listPages(ids)) {
      await page.goto(address);
      await page.waitUntilLoaded();
      await page.page.evaluate(
        "document.querySelectorAll('main details').forEach((each) => (each.open = true))",
      );
      expect([address, await findInjected()]).toEqual([address, []]);
      shown += (await page.page.locator('main').innerText()).includes('data-evil') ? 1 : 0;
    }
    // The text was visible on at least eight pages.
    expect(shown).toBeGreaterThanOrEqual(8);
  });

  test('markup from import files is rendered as text in every import', async () => {
    const { Results } = (await service.key.get('/imports?dataset=evil')).body;
    expect(Results).toHaveLength(4);
    for (const { id } of Results as { id: string }[]) {
      await page.goto(`/console/imports/${id}`);
      await page.waitUntilLoaded();
      expect(await findInjected()).toEqual([]);
    }
  });

  test('markup in an import file is rendered as text in the preview', async () => {
    await page.goto('/console/imports/new');
    await page.waitUntilLoaded();
    const path = join(service.folder, `${EVIL.replaceAll(/[<>=]/g, '_')}.csv`);
    writeFileSync(path, `ExternalId,${EVIL},Email\n1,${EVIL},${EVIL}\n`);
    await page.page.setInputFiles('input[type=file]', path);
    await page.waitForText(/data-evil src/);
    expect(await findInjected()).toEqual([]);
  });

  test("markup in the user's profile or the URL is rendered as text", async () => {
    const own = await service.openAs(`u${EVIL}`, PASSWORD, '/console/me');
    await own.waitUntilLoaded();
    expect(await own.page.locator('[data-evil]').count()).toBe(0);
    const sent = encodeURIComponent(BREAKOUT);
    for (const address of [
      `/console/users?q=${sent}&sort=${sent}&columns=${sent}`,
      `/console/audit?actor=${sent}&since=${sent}&after=${sent}`,
      `/console/imports?state=${sent}&dataset=${sent}&after=${sent}`,
      `/console/users/${sent}`,
      `/console/imports/${sent}?outcome=${sent}&view=${sent}`,
      `/console/${sent}`,
    ]) {
      await page.goto(address);
      await page.waitUntilLoaded();
      expect([address, await findInjected()]).toEqual([address, []]);
    }
  });
});
