import { expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { ADMIN_PASSWORD } from '../support/app/app.js';
import { databaseOf, inSeconds } from '../support/app/people.js';
import type { ConsolePage } from '../support/browser/console-page.js';
import { describeConsole } from '../support/browser/console-service.js';
import { csv, runImport } from '../support/app/imports.js';
import { create } from '../support/data/factories.js';
import { HEAD, people } from '../support/data/user-file.js';
import { scimOf } from '../support/app/scim.js';
import { aScimGroup } from '../support/app/scim-groups.js';

const MARKUP = '<img src=x onerror=alert(1)>';

describeConsole('daily work in the console', (service) => {
  let page: ConsolePage;

  test('the home page shows waiting imports and keys that expire soon', async () => {
    const file = csv(HEAD, ...people('person', 6));
    await runImport(service.key, file, 'dataset=home');
    const moved = file.replaceAll('@example.org', '@example.net');
    const waiting = await runImport(service.key, moved, 'dataset=home');
    const soon = new Date(Date.now() + 5 * 86_400_000).toISOString();
    await service.key.post('/api_keys', { name: 'ends soon', scopes: ['users:read'], expires: soon });
    page = await service.openAsAdmin();
    await page.waitForTitle('Home');
    await page.waitForText('1 import is waiting for a decision, 1 key expires soon.');
    const waits = await page.readRows('Waiting imports');
    expect(waits.map((cells) => cells.slice(0, 3))).toEqual([['home', 'upload.csv', 'Needs approval']]);
    expect((await page.readRows('Last import of each data set')).map(([dataset]) => dataset)).toEqual([
      'home',
    ]);
    await page.waitForText('ends soon');
    const plots = page.page.getByRole('figure');
    await plots.first().getByText('Show as table').click();
    // Six users of the import, and usually the first Webmaster. The template was created the day before if midnight has passed.
    const cells = plots.first().getByRole('cell', { name: /^[67]$/ });
    await cells.first().waitFor();
    await plots.last().getByText('Show as table').click();
    await plots.last().getByRole('table', { name: 'Imports' }).waitFor();
    await page.page.getByRole('link', { name: 'upload.csv' }).first().click();
    await page.waitForTitle(/^upload\.csv/);
    await page.waitForPath(`/console/imports/${String(waiting.id)}`);
    await page.page.goBack();
    await page.waitForTitle('Home');
  });

  test('an API key can be created and revoked in the console', async () => {
    page = await service.openAsAdmin('/console/keys');
    await page.button('New key').click();
    await page.field('Purpose').fill(MARKUP);
    // Without a scope, no key can be created.
    await page.dialog.getByLabel('users:read').uncheck();
    await page.waitForText('Choose at least one permission.');
    expect(await page.button('Create key').isDisabled()).toBe(true);
    await page.dialog.getByLabel(/^Full access/).check();
    expect(await page.dialog.getByLabel('audit:read').isChecked()).toBe(true);
    await page.dialog.getByLabel(/^Full access/).uncheck();
    await page.dialog.getByLabel('users:read').check();
    await page.dialog.getByLabel('groups:read read groups').check();
    await page.field('Allowed networks').fill('10.0.0.0/99');
    await page.button('Create key').click();
    const error = page.dialog.getByText(/Allowed networks|Networks/);
    await error.last().waitFor();
    await page.field('Allowed networks').fill('127.0.0.0/8');
    await databaseOf(service.app).execute('UPDATE sessions SET created = ?', [inSeconds(-3600)]);
    await page.button('Create key').click();
    await page.field('Current password').fill('wrong');
    await page.button('Confirm').click();
    await page.waitForText('Login failed.');
    await page.field('Show current password').check();
    expect(await page.field('Current password').getAttribute('type')).toBe('text');
    expect(await page.findViolations()).toEqual([]);
    await page.field('Current password').fill(ADMIN_PASSWORD);
    await page.button('Confirm').click();
    await page.button('I have copied it').waitFor();
    const key = (await page.dialog.locator('code').textContent()) ?? '';
    expect(key).toMatch(/^rollcall_[0-9a-f]{12}_/);
    const asKey = service.key.with({ 'x-api-key': key });
    expect((await asKey.get('/users/search')).status).toBe(200);
    expect((await asKey.get('/imports')).status).toBe(403);
    await page.button('I have copied it').click();
    await page.page.getByRole('row').filter({ hasText: MARKUP }).waitFor();
    const shown = await page.readRows('API keys');
    const cells = [expect.stringMatching(/^active/), 'users:readgroups:read', '127.0.0.0/8'];
    expect(shown[0]).toEqual(expect.arrayContaining(cells));
    expect(shown[0]?.[0]).toContain(MARKUP);
    expect(await page.page.content()).not.toContain(key);
    await page.button('Revoke').first().click();
    await page.waitForText(/are rejected immediately/);
    await page.dialog.getByRole('button', { name: 'Revoke' }).click();
    await page.waitForText(`${MARKUP} was revoked.`);
    expect((await asKey.get('/users/search')).status).toBe(401);
  });

  test('roles added to a group in the console apply to members', async () => {
    const { uuid } = await create(service.key, { firstname: MARKUP });
    await aScimGroup(scimOf(service.app), { displayName: `News ${MARKUP}`, members: [{ value: uuid }] });
    page = await service.openAsAdmin('/console/groups');
    await page.page.getByRole('link', { name: `News ${MARKUP}` }).click();
    await page.waitForTitle(`News ${MARKUP}`);
    expect(await page.readRows('Members')).toEqual([[expect.stringContaining(MARKUP), 'Active']]);
    await page.field('Editor').check();
    await page.button('Save for 1 member').click();
    await page.waitForText(`Roles of News ${MARKUP} saved.`);
    expect((await service.key.get(`/users/${String(uuid)}`)).body.group_roles).toEqual(['Editor']);
  });

  test('import profiles can be listed and deleted in the console', async () => {
    await service.key.put('/import_profiles/old', { columns: { Nr: 'ExternalId' }, pattern: 'old-*.csv' });
    page = await service.openAsAdmin('/console/profiles');
    const row = page.page.getByRole('row').filter({ hasText: 'old-*.csv' });
    await row.getByRole('button', { name: 'Delete' }).click();
    await page.waitForText(/Files that match old-\*\.csv will be read without this profile/);
    await page.dialog.getByRole('button', { name: 'Delete' }).click();
    await page.waitForText('Profile old deleted.');
    expect((await service.key.get('/import_profiles/old')).status).toBe(404);
  });

  test('the audit page filters events by target and action', async () => {
    const name = `audited-${randomUUID()}`;
    const { uuid } = await create(service.key, {
      username: name,
      email: `${name}@example.org`,
      surname: MARKUP,
    });
    await service.key.put(`/users/${String(uuid)}`, { status: 'Blocked' });
    page = await service.openAsAdmin('/console/audit');
    await page.field('Target').fill(`${name}@example.org`);
    await page.field('Action').selectOption('user.blocked');
    await page.waitForText('1 event');
    await page.waitForPath(`/console/audit?target=${name}%40example.org&action=user.blocked`);
    expect((await page.readRows('Audit')).map(([, what]) => what)).toEqual(['User blocked']);
    expect((await page.readRows('Audit')).map((cells) => cells[3])).toEqual([`User ${name}`]);
    await page.page.reload();
    await page.waitForText('1 event');
    const file = await service.key.get(`/audit.csv?target=${String(uuid)}&action=user.blocked`);
    expect(file.text).toContain('user.blocked');
    await page.field('Action').selectOption('');
    await page.page.getByText(/^and \d+ more$/).click();
    await page.waitForText(MARKUP);
    await page.field('Actor').fill('nobody');
    await page.waitForText('Actor does not match exactly one user.');
    await page.field('Actor').fill('admin');
    await page.waitForText('No events match these filters.');
    await service.key.delete(`/users/${String(uuid)}`);
    await page.field('Actor').fill('');
    await page.field('Target').fill(name);
    await page.waitForText('3 events');
  });
});
