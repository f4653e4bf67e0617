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

  test('signing in leads to the requested page, and the user stays signed in after a reload', async () => {
    page = await service.open('/console/imports?state=failed');
    await page.titled('Sign in to Rollcall');
    await page.signIn('admin', ADMIN_PASSWORD);
    await page.titled('Imports');
    await page.isAt('/console/imports?state=failed');
    await page.page.reload();
    await page.titled('Imports');
  });

  test('signing in does not redirect to another site or outside the console', async () => {
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

  test('the sign-in page reports a failed login and explains the limit after too many failures', async () => {
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
    await page.shows(/only a few failed attempts are allowed from one address within 15 minutes/);
    await page.shows(/Even the correct password is rejected for now\. Try again in 1[45] min/);
    expect(await page.violations()).toEqual([]);
  });

  test('after sign-out, the back button leads to the sign-in page', async () => {
    page = await service.admin();
    const { page: tab } = page;
    await page.button('Sign out').click();
    await page.titled('Sign in to Rollcall');
    await tab.goBack();
    await page.titled('Sign in to Rollcall');
  });

  test('a sign-in dialog appears when the session has ended, and the search continues after sign-in', async () => {
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

  test('External users can open only their own profile after signing in', async () => {
    page = await service.as('guest', PASSWORD);
    await page.titled('guest');
    expect(
      await page.page.getByRole('navigation', { name: 'Console' }).getByRole('link').allTextContents(),
    ).toEqual(['My profile']);
    await page.goto('/console/users');
    await page.titled('Access denied');
  });

  test('the console shows an error with a button to try again while the service is unreachable', async () => {
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
