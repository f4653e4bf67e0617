import { existsSync, mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Browser, type Locator, type Page, chromium } from 'playwright-core';
import { ENGINE } from '../app/database.js';

/** The headless shell is Chromium without the windows of a browser, and needs two thirds of the time. */
const INSTALLED = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => existsSync(path));
const EXECUTABLE = process.env['CHROMIUM_PATH'] ?? INSTALLED ?? '/usr/bin/chromium';
const ARTIFACTS = fileURLToPath(new URL('../../../artifacts', import.meta.url));
const QUIET = ['--disable-background-networking', '--disable-component-update', '--disable-sync'];
const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', ...QUIET];

/** Why no browser can be used; undefined if one can. */
export const NO_BROWSER = existsSync(EXECUTABLE)
  ? undefined
  : `no Chromium at ${EXECUTABLE}, set CHROMIUM_PATH`;

/** The address of the pages: a session may be used from there only, so it is the `BASE_URL` of the service. */
export const PAGE_URL = 'http://localhost:8010';

/** A browser for which a service is at `PAGE_URL`. @param url where the service listens. */
export function launch(url: string): Promise<Browser> {
  const rule = `--host-resolver-rules=MAP ${new URL(PAGE_URL).host} ${new URL(url).host}`;
  return chromium.launch({ executablePath: EXECUTABLE, args: [...ARGS, rule] });
}

export interface Shown {
  /** Status and body as the page shows them. */
  status: string;
  body: string;
}

/** Swagger UI as a person uses it: clicks and keys, and the text of the page afterwards. */
export class SwaggerPage {
  /** Console errors, requests that failed or went elsewhere, and answers of 400 and above. */
  readonly problems: string[] = [];

  protected constructor(
    protected readonly page: Page,
    url: string,
  ) {
    // The page asks who is logged in: nobody, at first.
    const asksWho = (address: string): boolean => address === `${url}/api/0.3/users/me`;
    page.on('requestfailed', (request) => {
      if (!asksWho(request.url())) this.problems.push(`failed: ${request.url()}`);
    });
    page.on('console', (message) => {
      if (asksWho(message.location().url)) return;
      if (['error', 'warning'].includes(message.type())) this.problems.push(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => this.problems.push(`error in the page: ${error.message}`));
    page.on('request', (request) => {
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(`${url}/`)) {
        this.problems.push(`elsewhere: ${request.url()}`);
      }
    });
    page.on('response', (response) => {
      if (response.status() >= 400 && !asksWho(response.url()))
        this.problems.push(`${response.status()}: ${response.url()}`);
    });
  }

  static async open(browser: Browser, url: string): Promise<SwaggerPage> {
    const page = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
    const swagger = new this(page, url);
    await page.goto(`${url}/docs`);
    await page.locator('.opblock').first().waitFor();
    return swagger;
  }

  close(): Promise<void> {
    return this.page.close();
  }

  /** Enters the key in the dialog of the button "Authorize". */
  async authorize(key: string): Promise<void> {
    const scheme = await this.dialog();
    await scheme.locator('input').fill(key);
    await scheme.getByRole('button', { name: 'Apply credentials' }).click();
    await scheme.getByRole('button', { name: 'Remove authorization' }).waitFor();
    await this.page.locator('.close-modal').click();
  }

  /** "Logout" in the same dialog. */
  async unauthorize(): Promise<void> {
    const scheme = await this.dialog();
    await scheme.getByRole('button', { name: 'Remove authorization' }).click();
    await scheme.locator('input').waitFor();
    await this.page.locator('.close-modal').click();
  }

  /** The documented answers of an operation: status and example. */
  async documented(operation: string): Promise<Shown[]> {
    const block = this.page.locator(`.opblock[id$="-${operation}"]`);
    await block.locator('.opblock-summary-control').click();
    const rows = block.locator('tr.response[data-code]');
    await rows.first().waitFor();
    return rows.evaluateAll((found) =>
      found.map((row) => ({
        status: row.getAttribute('data-code') ?? '',
        body: row.querySelector('.example code')?.textContent ?? '',
      })),
    );
  }

  /**
   * "Try it out" and "Execute" with the prefilled values.
   * @param change.example the one to choose where several are offered.
   * @param change.fill parameters (usually placeholders) to fill in.
   * @param change.file is chosen in the form.
   * @param change.body turns the prefilled body into the one that is sent.
   */
  async execute(
    operation: string,
    change: {
      example?: string;
      fill?: Record<string, string>;
      file?: string;
      body?: (prefilled: string) => string;
    } = {},
  ): Promise<Shown> {
    const block = this.page.locator(`.opblock[id$="-${operation}"]`);
    const head = block.locator('.opblock-summary-control');
    if ((await head.getAttribute('aria-expanded')) !== 'true') await head.click();
    const tryOut = block.getByRole('button', { name: 'Try it out' });
    await tryOut
      .or(block.getByRole('button', { name: 'Execute' }))
      .first()
      .waitFor();
    if (await tryOut.isVisible()) await tryOut.click();
    const clear = block.locator('.btn-clear');
    if (await clear.isVisible()) await clear.click();
    const { example, fill = {}, file, body } = change;
    if (file !== undefined)
      await block.locator('tr[data-property-name="file"] input[type=file]').setInputFiles(file);
    if (example) await block.locator('.examples-select select').selectOption(example);
    for (const [name, value] of Object.entries(fill)) {
      await block.locator(`tr[data-param-name="${name}"] input`).fill(value);
    }
    const editor = block.locator('textarea.body-param__text');
    if (body) await editor.fill(body(await editor.inputValue()));
    await block.getByRole('button', { name: 'Execute' }).click();
    const live = block.locator('.live-responses-table');
    await live.waitFor();
    const shown = live.locator('.response-col_description .highlight-code code');
    return {
      status: (await live.locator('.response-col_status').last().innerText()).trim().split('\n')[0] ?? '',
      // A file is offered for download and not shown.
      body: (await shown.count()) > 0 ? await shown.first().innerText() : '',
    };
  }

  /** Closes an operation: the page redraws all open ones at each step, and gets slower with their number. */
  async fold(operation: string): Promise<void> {
    const block = this.page.locator(`.opblock[id$="-${operation}"]`);
    await block.locator('.opblock-summary-control').click();
    await block.locator('.opblock-body').waitFor({ state: 'detached' });
  }

  /** With UPDATE_PICTURES, takes a picture for people, in `artifacts/`. */
  async screenshot(name: string, operation?: string): Promise<void> {
    if (!process.env['UPDATE_PICTURES']) return;
    mkdirSync(ARTIFACTS, { recursive: true });
    const path = `${ARTIFACTS}/swagger-${name}-${ENGINE}.png`;
    if (operation) await this.page.locator(`.opblock[id$="-${operation}"]`).screenshot({ path });
    else await this.page.screenshot({ path });
  }

  private async dialog(): Promise<Locator> {
    await this.page.locator('.btn.authorize').first().click();
    return this.page.locator('.auth-container', { hasText: 'X-API-Key' });
  }
}
