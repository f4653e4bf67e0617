import { beforeAll, expect, test } from '@jest/globals';
import { ADMIN_PASSWORD } from '../support/app/app.js';
import type { ConsolePage } from '../support/browser/console-page.js';
import { withConsole } from '../support/browser/console-service.js';
import { create } from '../support/data/factories.js';
import { PASSWORD } from '../support/app/people.js';

withConsole('signing in to the console', (service) => {
  let page: ConsolePage;
  beforeAll(async () => {
    await create(service.key, {
      username: 'member',
      password: PASSWORD,
      firstname: 'Mira',
      surname: 'Ember',
    });
    await create(service.key, { username: 'guest', password: PASSWORD, roles: ['External user'] });
  });

  test('signs in, comes to the page that was asked for, and is not asked again', async () => {
    page = await service.open('/console/imports?state=failed');
    await page.titled('Sign in to Rollcall');
    await page.signIn('admin', ADMIN_PASSWORD);
    await page.titled('Imports');
    await page.isAt('/console/imports?state=failed');
    await page.page.reload();
    await page.titled('Imports');
  });

  test('is led nowhere else by a link of somebody else', async () => {
    for (const back of [
      'https://elsewhere.example/console',
      '//elsewhere.example/console',
      '/docs',
      'javascript:1',
    ]) {
      page = await service.open(`/console/sign-in?back=${encodeURIComponent(back)}`);
      await page.signIn('admin', ADMIN_PASSWORD);
      await page.titled('Home');
    }
  });

  test('reads why a login is refused, and after too many what that means', async () => {
    page = await service.open();
    await page.signIn('member', 'not the password');
    await page.shows('Login failed.');
    expect(await page.page.getByRole('alert').getByRole('button', { name: 'Copy request id' }).count()).toBe(
      1,
    );
    for (let guess = 0; guess < 5; guess++) {
      const answered = page.page.waitForResponse((answer) => answer.url().endsWith('/sessions/login'));
      await page.signIn('member', `not the password ${guess}`);
      await answered;
    }
    await page.shows(/an account takes 5 wrong ones from an address in 15 minutes/);
    await page.shows(/refused too until then, for 1[45] min/);
    expect(await page.violations()).toEqual([]);
  });

  test('signs out, and is out in the service too', async () => {
    page = await service.admin();
    const { page: tab } = page;
    await page.button('Sign out').click();
    await page.titled('Sign in to Rollcall');
    await tab.goBack();
    await page.titled('Sign in to Rollcall');
  });

  test('whose session has ended elsewhere signs in and goes on where they were', async () => {
    page = await service.admin('/console/users');
    await page.titled('Users');
    const { body } = await service.key.get('/users/search?username=admin');
    await service.key.delete(`/users/${body.Results[0].uuid}/sessions`);
    await page.field('Search').fill('mira');
    await page.shows('Your session has ended');
    await page.field('Password').fill(ADMIN_PASSWORD);
    await page.button('Sign in').click();
    await page.isAt('/console/users?q=mira');
    await page.shows('Mira Ember');
  });

  test('as a guest sees their own profile and no more', async () => {
    page = await service.as('guest', PASSWORD);
    await page.titled('guest');
    expect(
      await page.page.getByRole('navigation', { name: 'Console' }).getByRole('link').allTextContents(),
    ).toEqual(['My profile']);
    await page.goto('/console/users');
    await page.titled('Access denied');
  });

  test('when the service is away reads that, and goes on when it is back', async () => {
    page = await service.admin();
    await page.titled('Home');
    await page.page.route('**/api/**', (route) => route.abort());
    await page.page.reload();
    await page.shows('The service cannot be reached.');
    await page.page.unroute('**/api/**');
    await page.button('Try again').click();
    await page.titled('Home');
  });
});
