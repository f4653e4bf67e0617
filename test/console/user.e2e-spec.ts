import { beforeEach, expect, test } from '@jest/globals';
import type { ConsolePage } from '../support/browser/console-page.js';
import { describeConfiguredConsole } from '../support/browser/console-service.js';
import type { Json } from '../support/app/client.js';
import { create } from '../support/data/factories.js';
import { awaitRun, csv, runImport } from '../support/app/imports.js';
import { PASSWORD } from '../support/app/people.js';

const SETTINGS = { EXTRA_ROLES: 'Night shift', PASSWORD_MIN_LENGTH: '10', SCIM_DELETED_DAYS: '7' };

describeConfiguredConsole('a user in the console', SETTINGS, (service) => {
  let user: Json;
  let page: ConsolePage;
  beforeEach(async () => {
    const ada = { password: PASSWORD, firstname: 'Ada', surname: 'Lovelace', phone: '1' };
    user = await create(service.key, ada);
  });

  const open = async (tab = ''): Promise<void> => {
    page = await service.openAsAdmin(`/console/users/${user.uuid}${tab}`);
    await page.waitForTitle(/Ada Lovelace/);
  };
  const readUser = async (): Promise<Json> => (await service.key.get(`/users/${user.uuid}`)).body;

  test('the user page sends only changed fields', async () => {
    await open();
    await page.button('Edit').click();
    await page.field('Surname').fill('King');
    await page.field('Editor').check();
    await page.field('Night shift').check(); // a role of EXTRA_ROLES
    await page.field('Login names').fill('saml: ada@idp.example.org\noidc: ada');
    const [sent] = await Promise.all([
      page.page.waitForRequest((request) => request.method() === 'PUT'),
      page.button('Save').click(),
    ]);
    expect(sent.postDataJSON()).toEqual({
      surname: 'King',
      roles: ['Editor', 'Night shift', 'Organisational user'],
      authname: { saml: ['ada@idp.example.org'], oidc: ['ada'] },
    });
    expect(sent.headers()['if-match']).toMatch(/^"/);
    await page.waitForTitle(/Ada King/);
    await page.waitForText('Profile saved.');
    await page.button('Edit').click();
    await page.field('Login names').fill('saml: ada@idp.example.org');
    await page.button('Save').click();
    await page.button('Edit').waitFor();
    expect(await readUser()).toMatchObject({
      authname: { saml: ['ada@idp.example.org'] },
      roles: ['Editor', 'Organisational user', 'Night shift'],
    });
  });

  test('the user page shows each error next to its field', async () => {
    await open();
    await page.button('Edit').click();
    await page.field('E-mail').fill('no address');
    await page.field('Facebook').fill('no url');
    await page.button('Save').click();
    const wrong = page.page.locator('[aria-invalid=true]');
    await wrong.first().waitFor();
    const names = await wrong.evaluateAll((found) => found.map((input) => input.getAttribute('name')));
    expect(names).toEqual(['email']);
    await page.waitForText(/^E-mail must be an e-mail address/);
    await page.waitForText(/^Social media must contain http or https URLs/);
    expect(await page.findViolations()).toEqual([]);
    await page.field('E-mail').fill('admin@rollcall.invalid');
    await page.field('Facebook').fill('');
    await page.button('Save').click();
    await page.waitForText('E-mail is already used by admin.');
    await page.waitForText('Nothing was saved. Correct the marked fields.');
  });

  test('the user page offers the values of both operators after a conflict', async () => {
    await open();
    await page.button('Edit').click();
    await page.field('Surname').fill('Mine');
    await page.field('Phone').fill('2');
    await page.field('Known as').fill('My name');
    await service.key.put(`/users/${user.uuid}`, { surname: 'Theirs', known_as: 'Their name', mobile: '3' });
    await page.button('Save').click();
    const dialog = page.page.getByRole('dialog');
    await dialog.getByRole('heading', { name: 'Someone else has changed this user' }).waitFor();
    expect(await page.readRows('Changed fields')).toEqual([
      ['Surname', 'Lovelace', 'Theirs', 'Mine'],
      ['Known as', 'empty', 'Their name', 'My name'],
      ['Mobile', 'empty', '3', 'unchanged'],
    ]);
    expect(await readUser()).toMatchObject({ surname: 'Theirs', phone: '1', mobile: '3' });
    expect(await page.findViolations()).toEqual([]);
    await dialog.getByRole('radio', { name: 'Mine' }).check();
    await page.button('Continue editing').click();
    expect(await page.field('Mobile').inputValue()).toBe('3');
    await page.button('Save').click();
    await page.waitForText('Profile saved.');
    const saved = { surname: 'Mine', known_as: 'Their name', phone: '2', mobile: '3' };
    expect(await readUser()).toMatchObject(saved);
  });

  test('"Discard my changes" shows the values of the other operator', async () => {
    await open();
    await page.button('Edit').click();
    await page.field('Surname').fill('Mine');
    await service.key.put(`/users/${user.uuid}`, { surname: 'Theirs' });
    await page.button('Save').click();
    await page.button('Discard my changes').click();
    await page.waitForTitle(/Ada Theirs/);
    expect((await readUser()).surname).toBe('Theirs');
  });

  test('a dialog explains the effect before a user is blocked', async () => {
    const session = await service.app.login(user.username, PASSWORD);
    await open();
    await page.button('Block').click();
    await page.waitForText(/can no longer sign in\. 1 open session will end immediately\./);
    await page.field('Reason (optional)').fill('Left, “for ever”');
    await page.page.getByRole('dialog').getByRole('button', { name: 'Block' }).click();
    await page.waitForText('Ada Lovelace is blocked.');
    expect((await session.get('/users/me')).status).toBe(401);
    await page.confirm('Reactivate');
    await page.button('Block').waitFor();
    expect((await readUser()).status).toBe('Active');
    await page.page.goto(`${page.page.url()}?tab=history`);
    await page.waitForText('Left, “for ever”');
  });

  test('the user page ends one or all sessions of the user', async () => {
    for (let session = 0; session < 2; session++) await service.app.login(user.username, PASSWORD);
    await open('?tab=sessions');
    await page.button('End').first().click();
    await page.page.getByRole('dialog').getByRole('button', { name: 'End' }).click();
    await page.waitForText('1 session ended.');
    await page.button('End').nth(1).waitFor({ state: 'detached' });
    await page.button('End all').click();
    await page.page.getByRole('dialog').getByRole('button', { name: 'End' }).click();
    await page.waitForText('Ada Lovelace has no open sessions.');
  });

  test('the history of a user shows the source of each change', async () => {
    await service.key.put(`/users/${user.uuid}`, { external_id: 'HR-9', phone: '2' });
    await runImport(service.key, csv('ExternalId,Phone', 'HR-9,3'));
    await open('?tab=history');
    const events = page.page.locator('.timeline > li');
    await events.first().waitFor();
    const texts = await events.allInnerTexts();
    expect(texts[0]).toMatch(/Updated\s+Import upload\.csv\s+started by first key/);
    expect(texts[0]).toMatch(/Phone\s+2\s*→\s*3/);
    expect(texts[1]).toMatch(/Updated\s+API key first key/);
    expect(texts.at(-1)).toMatch(/^Created/);
    const title = await page.page.locator('.timeline time').first().getAttribute('title');
    expect(title).toMatch(/\d{4}.*\d\d:\d\d:\d\d/);
    await events.first().getByRole('link').click();
    await page.waitForTitle(/upload/);
  });

  test('an operator creates a user with a generated password, which the user replaces', async () => {
    page = await service.openAsAdmin('/console/users');
    await page.page.getByRole('link', { name: 'New user' }).click();
    await page.waitForTitle('New user');
    await page.field('Username').fill('admin');
    await page.field('E-mail').fill('grace@example.org');
    await page.field('Surname').fill('Hopper');
    await page.button('Create user').click();
    await page.waitForText('Username is already used by admin.');
    expect(await page.page.getByText(/Request/).count()).toBe(0);
    await page.field('Username').fill('grace');
    const namesake = await create(service.key, { firstname: 'Ada', surname: 'Lovelace' });
    await page.field('Manager').fill('no such user');
    await page.button('Create user').click();
    await page.waitForText(/^Manager matches no user\. Type the name, username, e-mail address or/);
    await page.field('Manager').fill('ada lovelace');
    await page.button('Create user').click();
    await page.waitForText(/Manager matches several users/);
    await page.field('Manager').fill(namesake.email);
    await page.button('Create user').click();
    await page.waitForTitle(/Hopper/);
    await page.page.locator(`dd a[href$="${namesake.uuid}"]`).waitFor();
    await page.button('Edit').click();
    await page.waitForText(`Ada Lovelace, ${namesake.email}`);
    expect(await page.field('Manager').inputValue()).toBe(namesake.username);
    await page.button('Discard').click();
    await page.field('New password').fill('a first one that is long');
    await page.button('Set password').click();
    await page.waitForText('The user must choose a new password at the next sign-in.');
    await page.button('Generate password').first().click();
    await page.button('Generate').click();
    const password = await page.dialog.locator('code').innerText();
    expect(await page.findViolations()).toEqual([]);
    await page.button('I have copied it').click();

    const own = await service.open();
    await own.signIn('grace', password);
    await own.waitForTitle('Choose a new password');
    await own.waitForText(/^At least 10 characters/);
    expect(await own.findViolations()).toEqual([]);
    await own.field('Current password').fill(password);
    await own.field('New password').fill(password);
    await own.button('Change password').click();
    await own.waitForText('Password must differ from the current password.');
    await own.field('New password').fill('a new one that is long');
    await own.button('Change password').click();
    await own.waitForTitle('Users');
  });

  test('an operator deletes a user, finds the deleted user by name and restores the user', async () => {
    const report = await create(service.key, { manager_uuid: user.uuid, roles: ['Webmaster'] });
    const moved = await create(service.key, { manager_uuid: user.uuid });
    await open();
    await page.page.getByRole('link', { name: '2 users' }).click();
    await page.waitForText(/^Direct reports of/);
    await page.page.getByText(report.username).first().waitFor();
    await open();
    await page.button('Delete').click();
    await page.waitForText(
      '2 direct reports will have no manager. If you restore this user, you can reassign them.',
    );
    await page.waitForText(/You can restore the user for 7 days\./);
    await page.field('Reason (optional)').fill('left the company');
    await page.dialog.getByRole('button', { name: 'Delete' }).click();
    await page.waitForText(/by admin: left the company\. After/);
    await service.key.put(`/users/${moved.uuid}`, { manager_uuid: report.uuid });
    await page.goto('/console/users');
    await page.page.getByRole('link', { name: 'Deleted users' }).click();
    await page.field('Search').fill('lovelace');
    await page.page.getByRole('link', { name: 'Ada Lovelace' }).first().click();
    const former = await page.readRows('Former direct reports without a manager');
    expect(former).toEqual([[expect.stringContaining(report.username)]]);
    await page.button('Restore').click();
    expect(await page.dialog.getByLabel('Reassign 1 direct report to this user').isChecked()).toBe(true);
    expect(await page.findViolations()).toEqual([]);
    await page.dialog.getByRole('button', { name: 'Restore' }).click();
    await page.waitForText('Ada Lovelace was restored.');
    await page.page.locator('h1', { hasText: 'change manager of 1 userCompleted' }).waitFor();
    expect((await service.key.get(`/users/${report.uuid}`)).body.manager_uuid).toBe(user.uuid);
    await service.key.put(`/users/${user.uuid}`, { roles: ['Webmaster'], status: 'Blocked' });
    await open();
    await page.waitForText('Blocked by');
    await page.page.getByText('first key').first().waitFor();
    await page.button('Delete').click();
    expect(await page.dialog.getByRole('button', { name: 'Delete' }).isDisabled()).toBe(true);
    await page.field(`Type ${user.username} to confirm`).fill(user.username);
    await page.dialog.getByRole('button', { name: 'Delete' }).click();
    await page.waitForText(/by admin\. After/);
  });

  test('the page of a bulk deletion links to the page of a deleted user', async () => {
    const deletion = { uuids: [user.uuid], change: { delete: true }, reason: 'Left' };
    const { id } = (await service.key.post('/imports', deletion)).body;
    await awaitRun(service.key, id);
    page = await service.openAsAdmin(`/console/imports/${id}`);
    await page.page.getByRole('link', { name: 'Ada Lovelace' }).click();
    await page.waitForPath(`/console/users/deleted/${user.uuid}`);
    await page.goto(`/console/users/${user.uuid}`);
    await page.waitForPath(`/console/users/deleted/${user.uuid}`);
  });

  test('users can change their own password and permitted profile fields', async () => {
    page = await service.openAs(user.username, PASSWORD, '/console/me');
    await page.waitForTitle(/Ada Lovelace/);
    await page.button('Edit').click();
    expect(await page.page.getByLabel('Username', { exact: true }).count()).toBe(0);
    await page.field('Known as').fill('Countess');
    await page.button('Save').click();
    await page.waitForTitle(/Countess Lovelace/);
    await page.field('Current password').fill('wrong');
    await page.field('New password').fill('a new one that is long');
    await page.button('Change password').click();
    await page.page.locator('[name=current_password][aria-invalid=true]').waitFor();
    await page.field('Current password').fill(PASSWORD);
    await page.field('New password').fill('Winter-2023-24!');
    await page.button('Change password').click();
    await page.waitForText('Password must not consist mainly of names, seasons or greetings.');
    await page.field('New password').fill('a new one that is long');
    await page.button('Change password').click();
    await page.waitForText(/Your password was changed/);
    await page.button('Sign out').click();
    await page.signIn(user.username, 'a new one that is long');
    await page.waitForTitle('Users');
  });
});
