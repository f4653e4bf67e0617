import { expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Route } from 'playwright-core';
import { ADMIN_PASSWORD } from '../support/app/app.js';
import type { ConsolePage } from '../support/browser/console-page.js';
import { describeConsole } from '../support/browser/console-service.js';
import { create } from '../support/data/factories.js';
import { csv, runImport } from '../support/app/imports.js';
import { PASSWORD } from '../support/app/people.js';
import { PAGE_URL } from '../support/browser/swagger-page.js';

/** Failures between a browser and the service: lost responses, other tabs, other operators. */
describeConsole('the console when a request fails', (service) => {
  let page: ConsolePage;

  const abort = (route: Route) => route.abort();
  const answerBadGateway = (route: Route) => route.fulfill({ status: 502, body: 'Bad gateway' });
  /** Sends the first matching request to the service, and drops the response. */
  const loseResponse = (pattern: string, method: string, lose = abort) => {
    let isLost = false;
    return page.page.route(pattern, async (route: Route) => {
      if (isLost || route.request().method() !== method) return route.continue();
      isLost = true;
      // Only the browser can resolve PAGE_URL.
      const received = await route.fetch({ url: route.request().url().replace(PAGE_URL, service.app.url) });
      expect(received.ok()).toBe(true);
      return lose(route);
    });
  };

  test.each([
    ['is lost', abort, 'The service cannot be reached'],
    ['is replaced by the 502 of a proxy', answerBadGateway, 'The service returned status 502'],
  ])('a retry shows the same API key if the response %s', async (_, lose, message) => {
    const name = `lost ${randomUUID()}`;
    page = await service.openAsAdmin('/console/keys');
    await loseResponse('**/api_keys', 'POST', lose);
    await page.button('New key').click();
    await page.field('Purpose').fill(name);
    await page.button('Create key').click();
    await page.waitForText(message);
    await page.button('Create key').click();
    await page.dialog.getByText(/^rollcall_/).waitFor();
    const keys = (await service.key.get('/api_keys?limit=100')).body.Results as { name: string }[];
    expect(keys.filter((key) => key.name === name)).toHaveLength(1);
    // Only the button closes the dialog.
    await page.page.keyboard.press('Escape');
    await page.dialog.getByText(/^rollcall_/).waitFor();
    await page.button('I have copied it').click();
  });

  test('a retry after a lost response takes effect only once', async () => {
    page = await service.openAsAdmin('/console/imports/new?dataset=lost');
    await loseResponse('**/imports?*', 'POST');
    const path = join(service.folder, 'lost.csv');
    writeFileSync(path, csv('ExternalId,Username,Email', 'L-1,lost1,lost1@example.org'));
    await page.page.setInputFiles('input[type=file]', path);
    await page.button('Create plan').click();
    await page.waitForText('The service cannot be reached');
    await page.button('Create plan').click();
    await page.waitForTitle(/^lost\.csv/);
    expect((await service.key.get('/imports?dataset=lost')).body.Count).toBe(1);
    const { uuid } = await create(service.key, { firstname: 'Lou', surname: 'Lost' });
    await page.goto(`/console/users/${uuid}`);
    await loseResponse(`**/users/${uuid}`, 'PUT');
    await page.button('Edit').click();
    await page.field('Phone').fill('77');
    await page.button('Save').click();
    await page.waitForText('The service cannot be reached');
    await page.button('Save').click();
    await page.waitForText('Profile saved.');
  });

  test('a failed sign-out shows that the user is still signed in', async () => {
    page = await service.openAsAdmin('/console/users');
    await page.page.route('**/sessions/logout', (route) => route.abort());
    await page.button('Sign out').click();
    await page.waitForText('You are still signed in.');
    await page.waitForPath('/console/users');
    await page.page.unroute('**/sessions/logout');
    await page.button('Sign out').click();
    await page.waitForTitle('Sign in to Rollcall');
  });

  test('signing in or out applies to every tab of the console', async () => {
    const { username } = await create(service.key, { password: PASSWORD });
    page = await service.openAsAdmin('/console/keys');
    const other = await page.page.context().newPage();
    await other.goto(`${PAGE_URL}/console`);
    await other.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForTitle('Sign in to Rollcall');
    await other.getByLabel('Username or e-mail', { exact: true }).fill(username);
    await other.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await other.getByRole('button', { name: 'Sign in', exact: true }).click();
    await other.getByText(username).first().waitFor();
    await page.signIn('admin', ADMIN_PASSWORD);
    await page.page.getByRole('button', { name: 'Sign out' }).waitFor();
    await other.getByText('admin', { exact: true }).first().waitFor();
  });

  test('the dialog to apply a plan counts the users to block, and shows an error if it was rejected', async () => {
    const people = Array.from({ length: 12 }, (_, n) => `B-${n},block${n},block${n}@example.org`);
    const head = 'ExternalId,Username,Email';
    await runImport(service.key, csv(head, ...people), 'dataset=blocks');
    const file = csv(head, ...people.slice(0, 2), 'B-99,x y,no address');
    const run = await runImport(service.key, file, 'dataset=blocks&missing=block&dry_run=true');
    page = await service.openAsAdmin(`/console/imports/${run.id}`);
    await page.waitForText('Missing, would be blocked');
    await page.button('Apply the plan').click();
    await page.waitForText(/^10 users will be blocked\. 1 row of the file has errors and will be left out\./);
    await page.dialog.getByRole('button', { name: 'Cancel' }).click();
    const decided = await service.key.post(`/imports/${run.id}/reject`);
    expect(decided.status).toBe(202);
    await page.button('Apply the plan').click();
    await page.dialog.getByRole('button', { name: 'Apply' }).click();
    await page.page.locator('h1', { hasText: 'Rejected' }).waitFor();
    await page.dialog
      .getByRole('alert')
      .getByText(/It must be planned or needs_approval/)
      .waitFor();
    expect(await page.dialog.getByRole('button', { name: 'Copy request id' }).count()).toBe(0);
  });

  test('saving an import profile does not overwrite the changes of another operator', async () => {
    const profile = { columns: { No: 'ExternalId', Mail: 'Email', Login: 'Username' } };
    await service.key.put('/import_profiles/shared', profile);
    page = await service.openAsAdmin('/console/profiles/shared');
    await page.field('Data set').fill('mine');
    await service.key.put('/import_profiles/shared', { ...profile, missing: 'report' });
    await page.button('Save').click();
    await page.waitForText('Someone else has changed this profile');
    expect(await page.readRows('Differences from shared')).toEqual([
      ['Users missing from the file', 'Listed', 'not set'],
      ['Data set', 'not set', 'mine'],
    ]);
    const saved = (await service.key.get('/import_profiles/shared')).body;
    expect(saved.profile.missing).toBe('report');
  });

  test('a list that fails to load shows an error', async () => {
    page = await service.openAsAdmin('/console/imports');
    await page.page.reload();
    await page.waitForTitle('Imports');
    await page.page.keyboard.press('Tab');
    await page.page.keyboard.press('Enter');
    await page.page.keyboard.press('Tab');
    expect(await page.page.locator('main :focus').count()).toBe(1);
    await page.page.route('**/api/0.3/groups?*', (route) => route.abort());
    await page.goto('/console/groups');
    await page.waitForText('The service cannot be reached');
    expect(await page.page.getByText('No identity provider has sent a group yet.').count()).toBe(0);
    await page.page.unroute('**/api/0.3/groups?*');
    await page.waitForText('No identity provider has sent a group yet.');
  });

  test('the audit page filters by days in the time zone of the browser', async () => {
    await create(service.key);
    page = await service.openAsAdmin('/console/audit', { timezoneId: 'Pacific/Kiritimati' });
    const local = new Date(Date.now() + 14 * 3_600_000).toISOString().slice(0, 10);
    await page.goto(`/console/audit?since=${local}`);
    await page.page.getByRole('row').filter({ hasText: 'User created' }).first().waitFor();
    expect(await page.field('Since').inputValue()).toBe(`${local}T00:00`);
    await page.goto('/console/audit?since=bad');
    await page.waitForText(/Since must be a time/);
    expect(await page.page.getByText('RangeError').count()).toBe(0);
  });
});
