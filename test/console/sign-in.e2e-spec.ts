import { beforeAll, expect, test } from '@jest/globals';
import { ADMIN_PASSWORD } from '../support/app/app.js';
import type { ConsolePage } from '../support/browser/console-page.js';
import { describeConsole } from '../support/browser/console-service.js';
import { create } from '../support/data/factories.js';
import { PASSWORD } from '../support/app/people.js';

describeConsole('signing in to the console', (service) => {
  let page: ConsolePage;
  beforeAll(async () => {
    const member = { username: 'member', firstname: 'Mira', surname: 'Ember' };
    await create(service.key, { ...member, password: PASSWORD });
    await create(service.key, { username: 'guest', password: PASSWORD, roles: ['External user'] });
  });

  test('signing in leads to the requested page', async () => {
    page = await service.open('/console/imports?state=failed');
    await page.waitForTitle('Sign in to Rollcall');
    const failed: number[] = [];
    page.page.on('response', (answer) => {
      if (!answer.ok()) failed.push(answer.status());
    });
    await page.page.reload();
    await page.waitForTitle('Sign in to Rollcall');
    await page.waitUntilLoaded();
    expect(failed).toEqual([]);
    await page.signIn('admin', ADMIN_PASSWORD);
    await page.waitForTitle('Imports');
    await page.waitForPath('/console/imports?state=failed');
    await page.page.reload();
    await page.waitForTitle('Imports');
  });

  test('signing in does not redirect outside the console', async () => {
    const elsewhere = ['https://elsewhere.example/console', '//elsewhere.example/console'];
    for (const back of [...elsewhere, '/docs', 'javascript:1']) {
      page = await service.open(`/console/sign-in?back=${encodeURIComponent(back)}`);
      await page.signIn('admin', ADMIN_PASSWORD);
      await page.waitForTitle('Home');
    }
  });

  test('the sign-in page explains the limit after too many failed logins', async () => {
    page = await service.open();
    await page.signIn('member', 'not the password');
    await page.waitForText('Login failed.');
    for (let guess = 0; guess < 5; guess++) {
      const answered = page.page.waitForResponse((answer) => answer.url().endsWith('/sessions/login'));
      await page.signIn('member', `not the password ${guess}`);
      await answered;
    }
    await page.waitForText(/only a few failed attempts are allowed from one IP address within 15 minutes/);
    await page.waitForText(/Even the correct password is rejected for now/);
    await page.waitForText(/^Try again in 1[45] min/);
    expect(await page.findViolations()).toEqual([]);
  });

  test('after sign-out, the back button leads to the sign-in page', async () => {
    page = await service.openAsAdmin();
    const { page: tab } = page;
    await page.button('Sign out').click();
    await page.waitForTitle('Sign in to Rollcall');
    await tab.goBack();
    await page.waitForTitle('Sign in to Rollcall');
  });

  test('a search in an ended session continues after sign-in', async () => {
    page = await service.openAsAdmin('/console/users');
    await page.waitForTitle('Users');
    const { body } = await service.key.get('/users/search?username=admin');
    await service.key.delete(`/users/${body.Results[0].uuid}/sessions`);
    await page.field('Search').fill('mira');
    await page.waitForText('Your session has ended');
    await page.field('Password').fill(ADMIN_PASSWORD);
    await page.button('Sign in').click();
    await page.waitForPath('/console/users?q=mira');
    await page.waitForText('Mira Ember');
  });

  test('External users can open only their own profile', async () => {
    page = await service.openAs('guest', PASSWORD);
    await page.waitForTitle('guest');
    const links = page.page.getByRole('navigation', { name: 'Console' }).getByRole('link');
    expect(await links.allTextContents()).toEqual(['My profile']);
    await page.goto('/console/users');
    await page.waitForTitle('Access denied');
  });

  test('the console offers to try again while the service is unreachable', async () => {
    page = await service.openAsAdmin();
    await page.waitForTitle('Home');
    await page.page.route('**/api/**', (route) => route.abort());
    await page.page.reload();
    await page.waitForText('The service cannot be reached.');
    await page.page.unroute('**/api/**');
    await page.button('Try again').click();
    await page.waitForTitle('Home');
  });
});
