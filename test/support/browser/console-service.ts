import { afterAll, afterEach, beforeAll, describe, expect } from '@jest/globals';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { ADMIN_PASSWORD, TestApp } from '../app/app.js';
import type { Client } from '../app/client.js';
import { ConsolePage } from './console-page.js';
import { NO_BROWSER, PAGE_URL, launchBrowser } from './swagger-page.js';

/**
 * Declares tests of the console that share a service and a browser. Without a browser they are skipped, and the title
 * gives the reason. After each test, its pages are closed and must not have reported problems.
 */
export const describeConsole = (title: string, tests: (service: ConsoleService) => void): void => {
  describeConfiguredConsole(title, {}, tests);
};

/** Does the same with additional settings of the service. */
export function describeConfiguredConsole(
  title: string,
  settings: Record<string, string>,
  tests: (service: ConsoleService) => void,
): void {
  const suite = () => {
    const service = new ConsoleService();
    beforeAll(() => service.start(settings));
    afterEach(async () => expect(await service.closePages()).toEqual([]));
    afterAll(() => service.end());
    tests(service);
  };
  if (NO_BROWSER === undefined) describe(title, suite);
  else describe.skip(`${title}: skipped, ${NO_BROWSER}`, suite);
}

/** A service with its own database, and a browser that reaches it at `PAGE_URL`. */
export class ConsoleService {
  app!: TestApp;
  private browser!: Browser;
  private readonly pages: ConsolePage[] = [];

  async start(settings: Record<string, string>): Promise<void> {
    this.app = await TestApp.start({ BASE_URL: PAGE_URL, ...settings });
    this.browser = await launchBrowser(this.app.url);
  }

  /** Client with the first API key. */
  get key(): Client {
    return this.app.key;
  }

  /** Folder of the database. */
  get folder(): string {
    return this.app.database.folder;
  }

  /** Opens the console without a session. */
  async open(path = '/console', options: BrowserContextOptions = {}): Promise<ConsolePage> {
    const page = await ConsolePage.open(this.browser, path, options);
    this.pages.push(page);
    return page;
  }

  /** Opens the console with a new session of a user. */
  async openAs(
    username: string,
    password: string,
    path = '/console',
    options: BrowserContextOptions = {},
  ): Promise<ConsolePage> {
    const { cookie = '' } = (await this.app.login(username, password)).headers;
    const [name = '', value = ''] = cookie.split('=');
    const { hostname: domain } = new URL(PAGE_URL);
    const session = { name, value, domain, path: '/', expires: -1, httpOnly: true, secure: false };
    const storageState = { cookies: [{ ...session, sameSite: 'Lax' as const }], origins: [] };
    return this.open(path, { ...options, storageState });
  }

  /** Opens the console with a session of the first Webmaster. */
  openAsAdmin(path = '/console', options: BrowserContextOptions = {}): Promise<ConsolePage> {
    return this.openAs('admin', ADMIN_PASSWORD, path, options);
  }

  /** Closes all pages. Returns the problems that they reported. */
  async closePages(): Promise<string[]> {
    const pages = this.pages.splice(0);
    for (const page of pages) await page.close();
    return pages.flatMap(({ problems }) => problems);
  }

  async end(): Promise<void> {
    await this.browser.close();
    await this.app.end();
  }
}
