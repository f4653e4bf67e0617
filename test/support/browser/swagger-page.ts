import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type Locator, type Page, chromium } from 'playwright-core';

/** Chromium headless shell, which takes two thirds of the time of Chromium, or else Chromium. */
const INSTALLED = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => existsSync(path));
const EXECUTABLE = process.env['CHROMIUM_PATH'] ?? INSTALLED ?? '/usr/bin/chromium';
const PICTURES = fileURLToPath(new URL('../../../docs/images', import.meta.url));
const QUIET = ['--disable-background-networking', '--disable-component-update', '--disable-sync'];
const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', ...QUIET];

/** Reason why no browser can be used, or undefined. */
export const NO_BROWSER = existsSync(EXECUTABLE)
  ? undefined
  : `no Chromium at ${EXECUTABLE}, set CHROMIUM_PATH`;

/** Origin of the pages. It is also the `BASE_URL` of the service, because a session is accepted only from there. */
export const PAGE_URL = 'http://localhost:8010';

/** Starts a browser that reaches a service at `PAGE_URL`. @param url the URL on which the service listens. */
export function launchBrowser(url: string): Promise<Browser> {
  const rule = `--host-resolver-rules=MAP ${new URL(PAGE_URL).host} ${new URL(url).host}`;
  return chromium.launch({ executablePath: EXECUTABLE, args: [...ARGS, rule] });
}

/** A response as the page shows it, with the URL of its request. */
export interface ShownResponse {
  status: string;
  body: string;
  url: string;
}

/** A parameter or a form field. */
interface Field {
  name: string;
  isRequired: boolean;
  value: string;
  /** Options of a select list. */
  choices: string[];
}

/** Swagger UI in a browser, controlled by clicks and key presses. */
export class SwaggerPage {
  /** Console errors, failed requests, requests to other origins, and responses with status 400 or higher. */
  readonly problems: string[] = [];

  private constructor(
    private readonly page: Page,
    url: string,
  ) {
    page.on('requestfailed', (request) => this.problems.push(`failed: ${request.url()}`));
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) this.problems.push(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => this.problems.push(`error in the page: ${error.message}`));
    page.on('request', (request) => {
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(`${url}/`)) {
        this.problems.push(`request to another origin: ${request.url()}`);
      }
    });
    page.on('response', (response) => {
      if (response.status() >= 400) this.problems.push(`${response.status()}: ${response.url()}`);
    });
  }

  static async load(url: string, browser: Browser): Promise<SwaggerPage> {
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
    const scheme = await this.openDialog();
    await scheme.locator('input').fill(key);
    await scheme.getByRole('button', { name: 'Apply credentials' }).click();
    await scheme.getByRole('button', { name: 'Remove authorization' }).waitFor();
    await this.page.locator('.close-modal').click();
  }

  /** Removes the key in the dialog of the button "Authorize". */
  async removeKey(): Promise<void> {
    const scheme = await this.openDialog();
    await scheme.getByRole('button', { name: 'Remove authorization' }).click();
    await scheme.locator('input').waitFor();
    await this.page.locator('.close-modal').click();
  }

  /** Returns the text of the first scheme in the dialog of "Authorize". */
  async readFirstScheme(): Promise<string> {
    await this.page.locator('.btn.authorize').first().click();
    const text = await this.page.locator('.auth-container').first().innerText();
    await this.page.locator('.close-modal').click();
    return text;
  }

  /** Returns the tags in the order of the page. */
  readTags(): Promise<string[]> {
    return this.page
      .locator('.opblock-tag')
      .evaluateAll((tags) => tags.map((tag) => tag.getAttribute('data-tag') ?? ''));
  }

  /**
   * Filters the operations by tag. Fewer operations make the page faster, because it redraws all of them at each step.
   */
  async filter(tag: string): Promise<void> {
    await this.page.locator('.operation-filter-input').fill(tag);
  }

  /** Opens an operation and clicks "Try it out". @returns its height in pixels before the click, and its fields. */
  async open(operation: string): Promise<{ height: number; fields: Field[] }> {
    const block = this.findBlock(operation);
    await block.locator('.opblock-summary-control').click();
    await block.locator('tr.response[data-code]').first().waitFor();
    const height = Math.round((await block.boundingBox())?.height ?? 0);
    await block.getByRole('button', { name: 'Try it out' }).click();
    await block.getByRole('button', { name: 'Execute' }).waitFor();
    const rows = block.locator('tr[data-property-name], tr[data-param-name]');
    const fields = await rows.evaluateAll((found) =>
      found.map((row) => {
        const field: unknown = row.querySelector(
          'input:not([type=file]):not([type=checkbox]), select, textarea',
        );
        return {
          name: row.getAttribute('data-property-name') ?? row.getAttribute('data-param-name') ?? '',
          isRequired: row.querySelector('.required, .parameter__name.required') !== null,
          value: String(Object(field).value ?? ''),
          choices: Array.from(row.querySelectorAll('option'), ({ textContent }) => textContent ?? ''),
        };
      }),
    );
    return { height, fields };
  }

  /**
   * Clicks "Try it out" and "Execute" with the prefilled values.
   * @param change.fill values of parameters, by name.
   * @param change.body converts the prefilled body to the body that is sent.
   */
  async execute(
    operation: string,
    change: { fill?: Record<string, string>; body?: (prefilled: string) => string } = {},
  ): Promise<ShownResponse> {
    const block = this.findBlock(operation);
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
    const { fill = {}, body } = change;
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
      // The page offers a file for download instead of showing it.
      body: (await shown.count()) > 0 ? await shown.first().innerText() : '',
      url: await block.locator('.request-url pre').innerText(),
    };
  }

  /** Closes an operation. Open operations make the page slower, because it redraws all of them at each step. */
  async collapse(operation: string): Promise<void> {
    const block = this.findBlock(operation);
    await block.locator('.opblock-summary-control').click();
    await block.locator('.opblock-body').waitFor({ state: 'detached' });
  }

  /** Writes a screenshot of the window, scrolled to an operation, to `docs/images` if UPDATE_PICTURES is set. */
  async takePicture(name: string, operation: string): Promise<void> {
    if (!process.env['UPDATE_PICTURES']) return;
    await this.findBlock(operation).evaluate((element) => {
      element.scrollIntoView();
    });
    writeFileSync(join(PICTURES, `${name}.png`), await this.page.screenshot());
  }

  /**
   * Writes a screenshot of a response, scrolled to a text. The screenshot omits the request, which contains the key.
   */
  async takeResponsePicture(name: string, text: string): Promise<void> {
    if (!process.env['UPDATE_PICTURES']) return;
    const response = this.page.locator('.live-responses-table').first();
    await response
      .locator('.highlight-code span', { hasText: text })
      .last()
      .evaluate((element) => {
        element.scrollIntoView({ block: 'center' });
      });
    writeFileSync(join(PICTURES, `${name}.png`), await response.screenshot());
  }

  private findBlock(operation: string): Locator {
    return this.page.locator(`.opblock[id$="-${operation}"]`);
  }

  private async openDialog(): Promise<Locator> {
    await this.page.locator('.btn.authorize').first().click();
    return this.page.locator('.auth-container', { hasText: 'X-API-Key' });
  }
}
