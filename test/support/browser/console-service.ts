import { describe } from '@jest/globals';
import { type Browser } from 'playwright-core';
import { ADMIN_PASSWORD, API_KEY } from '../app/app.js';
import { Client } from '../app/client.js';
import { ConsolePage } from './console-page.js';
import { type TestDatabase, freshDatabase } from '../app/database.js';
import { Process, newcomer } from '../process/process.js';
import { NO_BROWSER, PAGE_URL, launch } from './swagger-page.js';

/** Tests in a browser; where there is none they are skipped, and their title says why. */
export function withBrowser(title: string, tests: () => void): void {
  if (NO_BROWSER === undefined) describe(title, tests);
  else describe.skip(`${title}: skipped, ${NO_BROWSER}`, tests);
}

/** The built service with a database of its own, and a browser that reaches it at `PAGE_URL`. */
export class ConsoleService {
  private constructor(
    readonly database: TestDatabase,
    readonly process: Process,
    readonly browser: Browser,
  ) {}

  /** @param given a database that has been filled, in place of an empty one. */
  static async start(settings: Record<string, string> = {}, given?: TestDatabase): Promise<ConsoleService> {
    const database = given ?? (await freshDatabase());
    const service = await Process.running({
      ...newcomer(database),
      BASE_URL: PAGE_URL,
      BOOTSTRAP_API_KEY: API_KEY,
      BOOTSTRAP_WEBMASTER_PASSWORD: ADMIN_PASSWORD,
      SESSION_RATE_LIMIT_PER_MINUTE: '0',
      ...settings,
    });
    await service.says('"msg":"service started"');
    return new ConsoleService(database, service, await launch(addressOf(service)));
  }

  /** Where the service listens. */
  get url(): string {
    return addressOf(this.process);
  }

  /** A client with the first API key. */
  get key(): Client {
    return new Client(this.url, { 'x-api-key': API_KEY });
  }

  /** The console for somebody who has signed in. @param path of the page to come to. */
  async as(username: string, password: string, path = '/console', options = {}): Promise<ConsolePage> {
    const page = await ConsolePage.open(this.browser, path, options);
    await page.titled('Sign in to Rollcall');
    await page.signIn(username, password);
    await page.page.getByRole('heading', { name: 'Sign in to Rollcall' }).waitFor({ state: 'detached' });
    return page;
  }

  /** The console for the first Webmaster. */
  admin(path = '/console', options = {}): Promise<ConsolePage> {
    return this.as('admin', ADMIN_PASSWORD, path, options);
  }

  async end(): Promise<void> {
    await this.browser.close();
    await this.process.stop();
    await this.database.drop();
  }
}

/** Its log says where it listens: the welcome has the address of `BASE_URL`. */
function addressOf(service: Process): string {
  const url = /"url":"(http:[^"]+)"/.exec(service.out)?.[1];
  if (url === undefined) throw new Error(`no address in the log: ${service.out.slice(0, 500)}`);
  return url;
}
