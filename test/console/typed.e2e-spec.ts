import { beforeEach, expect, test } from '@jest/globals';
import { ADMIN_PASSWORD } from '../support/app/app.js';
import type { ConsolePage } from '../support/browser/console-page.js';
import { describeConsole } from '../support/browser/console-service.js';
import type { Json } from '../support/app/client.js';
import { create } from '../support/data/factories.js';

/** Typed input is not lost when the session ends or a page is left, or when users would remove their own role. */
describeConsole('unsaved input in the console', (service) => {
  let user: Json;
  let page: ConsolePage;
  beforeEach(async () => {
    user = await create(service.key, { firstname: 'Ada', surname: 'Typed' });
    page = await service.openAsAdmin(`/console/users/${user.uuid}`);
    await page.waitForTitle(/Ada Typed/);
  });

  const idOf = async (username: string): Promise<string> =>
    (await service.key.get(`/users/search?username=${username}`)).body.Results[0].uuid;
  const endSessions = async (): Promise<unknown> =>
    service.key.delete(`/users/${await idOf('admin')}/sessions`);
  const signInAgain = async (): Promise<void> => {
    await page.waitForText('Your session has ended');
    await page.dialog.getByLabel('Password', { exact: true }).fill(ADMIN_PASSWORD);
    await page.dialog.getByRole('button', { name: 'Sign in' }).click();
    await page.page.getByText('Your session has ended').waitFor({ state: 'detached' });
  };
  const readPhone = async (): Promise<string> => (await service.key.get(`/users/${user.uuid}`)).body.phone;
  const edit = async (value: string): Promise<void> => {
    await page.button('Edit').click();
    await page.field('Phone').fill(value);
  };

  test('typed input stays in a form when the session ends', async () => {
    await edit('4711');
    await endSessions();
    await page.button('Save').click();
    await page.waitForText('Your session has ended');
    expect(await page.findViolations()).toEqual([]);
    await page.page.keyboard.press('Escape');
    await page.page.keyboard.press('Escape');
    await signInAgain();
    expect(await page.field('Phone').inputValue()).toBe('4711');
    expect(await page.page.getByText('not authenticated').count()).toBe(0);
    await page.button('Save').click();
    await page.waitForText('Profile saved.');
    expect(await readPhone()).toBe('4711');
  });

  test('typed input stays in a dialog when the session ends', async () => {
    await page.button('Block').click();
    await page.field('Reason (optional)').fill('left on Monday');
    await endSessions();
    await page.dialog.getByRole('button', { name: 'Block' }).click();
    await signInAgain();
    expect(await page.field('Reason (optional)').inputValue()).toBe('left on Monday');
    await page.dialog.getByRole('button', { name: 'Block' }).click();
    await page.page.locator('h1', { hasText: 'Blocked' }).waitFor();
    await page.goto('/console/keys');
    await page.button('New key').click();
    await page.field('Purpose').fill('typed twice');
    await endSessions();
    await page.button('Create key').click();
    await signInAgain();
    await page.button('Create key').click();
    await page.button('I have copied it').click();
    await page.waitForText('typed twice');
  });

  test('typed input is discarded if another user signs in', async () => {
    const { username } = await create(service.key, { password: ADMIN_PASSWORD });
    await edit('4712');
    await endSessions();
    await page.button('Save').click();
    await page.waitForText('Your session has ended');
    await page.dialog.getByLabel('Username or e-mail').fill(username);
    await page.dialog.getByLabel('Password', { exact: true }).fill(ADMIN_PASSWORD);
    await page.dialog.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForText(username);
    expect(await page.page.getByLabel('Phone', { exact: true }).count()).toBe(0);
  });

  test('typed input stays after sign-out in another tab', async () => {
    const other = await page.page.context().newPage();
    await other.goto(page.page.url());
    await edit('4716');
    await other.getByRole('button', { name: 'Sign out' }).click();
    await signInAgain();
    expect(await page.field('Phone').inputValue()).toBe('4716');
    await page.button('Discard').click();
    await other.getByRole('heading', { name: 'Sign in to Rollcall' }).waitFor();
    await other.goto(page.page.url());
    await other.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForTitle('Sign in to Rollcall');
  });

  test('leaving the page discards typed input only after a confirmation', async () => {
    await page.page.getByRole('link', { name: 'My profile' }).click();
    await page.waitForTitle(/^admin/);
    await edit('4713');
    const exits: [string, () => Promise<unknown>][] = [
      ['a link', () => page.page.getByRole('link', { name: 'Groups' }).click()],
      ['a tab', () => page.page.getByRole('link', { name: 'History' }).click()],
      ['the back button', () => page.page.evaluate('history.back()')],
      ['sign-out', () => page.button('Sign out').click()],
    ];
    for (const [name, leave] of exits) {
      await leave();
      await page.waitForText('Leave without saving?');
      await page.button('Stay').click();
      expect([name, await page.field('Phone').inputValue()]).toEqual([name, '4713']);
      expect([name, page.path]).toEqual([name, '/console/me']);
    }
    await page.page.getByRole('link', { name: 'Groups' }).click();
    await page.button('Leave').click();
    await page.waitForTitle('Groups');
    // A page without changes is left without a confirmation.
    await page.page.getByRole('link', { name: 'My profile' }).click();
    await edit('4714');
    await page.page.evaluate('history.back()');
    await page.waitForText('Leave without saving?');
    await page.button('Leave').click();
    await page.waitForTitle('Groups');
    await page.waitForPath('/console/groups');
  });

  test('typed input makes the browser ask for confirmation before a reload', async () => {
    const questions: string[] = [];
    page.page.on('dialog', (question) => {
      questions.push(question.type());
      void question.accept();
    });
    await page.page.reload();
    await page.waitForTitle(/Ada Typed/);
    expect(questions).toEqual([]);
    await edit('4715');
    await page.page.reload();
    await page.waitForTitle(/Ada Typed/);
    expect(questions).toEqual(['beforeunload']);
  });

  test('users can remove their own Webmaster role only after a confirmation', async () => {
    const own = await create(service.key, { password: ADMIN_PASSWORD, roles: ['Webmaster'] });
    await page.close();
    page = await service.openAs(own.username, ADMIN_PASSWORD, '/console/me');
    await page.button('Edit').click();
    await page.field('Webmaster').uncheck();
    await page.button('Save').click();
    await page.waitForText(/Only another Webmaster can restore it/);
    await page.dialog.getByRole('button', { name: 'Cancel' }).click();
    expect((await service.key.get(`/users/${own.uuid}`)).body.roles).toContain('Webmaster');
    await page.button('Save').click();
    await page.dialog.getByRole('button', { name: 'Save' }).click();
    await page.waitForText('Profile saved.');
    expect((await service.key.get(`/users/${own.uuid}`)).body.roles).not.toContain('Webmaster');
  });
});
