import axe from 'axe-core';
import type { AxeResults, RunOptions } from 'axe-core';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { PAGE_URL } from './swagger-page.js';

const ARTIFACTS = fileURLToPath(new URL('../../../artifacts/console', import.meta.url));
/** Pictures that the documents show, with their file names in `docs/images`. */
const SHOWN: Readonly<Record<string, string>> = {
  'imports-id-light-wide': 'console',
  'home-light-wide': 'console-home',
  'users-dark-wide': 'console-users',
  'new-import': 'new-import',
  'new-import-plan': 'new-import-plan',
};
const PICTURES = fileURLToPath(new URL('../../../docs/images', import.meta.url));
/** WCAG 2.2 at levels A and AA, and best practices. */
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const COLORS = ['color-contrast', 'link-in-text-block'];
const tagged = { runOnly: { type: 'tag', values: TAGS } } as const;
/** Rules of axe-core: all, only those on colors, or all others. */
const RULES = {
  all: tagged,
  colors: { runOnly: { type: 'rule', values: COLORS } },
  layout: { ...tagged, rules: Object.fromEntries(COLORS.map((rule) => [rule, { enabled: false }])) },
} as const;

export const WIDE = { width: 1280, height: 860 };
export const NARROW = { width: 360, height: 780 };

/** A page of the console in a browser context with separate cookies. */
export class ConsolePage {
  /** Errors on the browser console, script errors, and requests to other origins. */
  readonly problems: string[] = [];

  private constructor(
    private readonly context: BrowserContext,
    readonly page: Page,
  ) {
    page.on('console', (message) => {
      // The browser reports every response with status 400 or higher. Tests check these themselves.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        this.problems.push(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => this.problems.push(`error in the page: ${error.message}`));
    page.on('request', (request) => {
      const url = request.url();
      if (!/^(data|blob):/.test(url) && !url.startsWith(`${PAGE_URL}/`))
        this.problems.push(`request to another origin: ${url}`);
    });
  }

  static async open(browser: Browser, path = '/console', options: BrowserContextOptions = {}) {
    const context = await browser.newContext({ viewport: WIDE, locale: 'en-GB', ...options });
    context.setDefaultTimeout(120_000);
    const page = await context.newPage();
    const opened = new ConsolePage(context, page);
    await page.goto(`${PAGE_URL}${path}`);
    return opened;
  }

  close(): Promise<void> {
    return this.context.close();
  }

  async goto(path: string): Promise<void> {
    await this.page.goto(`${PAGE_URL}${path}`);
  }

  /** Fills in and submits the sign-in form. */
  async signIn(username: string, password: string): Promise<void> {
    await this.field('Username or e-mail').fill(username);
    await this.field('Password').fill(password);
    await this.button('Sign in').click();
  }

  /** Path and query of the current URL. */
  get path(): string {
    const { pathname, search } = new URL(this.page.url());
    return pathname + search;
  }

  /** Waits until the URL has this path and query. */
  async waitForPath(path: string): Promise<void> {
    await this.page.waitForURL(({ pathname, search }) => pathname + search === path, { waitUntil: 'commit' });
  }

  /** Waits for the heading of a page. */
  async waitForTitle(name: string | RegExp): Promise<void> {
    await this.page.getByRole('heading', { level: 1, name }).waitFor();
  }

  get dialog(): Locator {
    return this.page.getByRole('dialog');
  }

  field(label: string): Locator {
    return this.page.getByLabel(label, { exact: true });
  }

  button(name: string): Locator {
    return this.page.getByRole('button', { name, exact: true });
  }

  /** Clicks a button that opens a dialog, waits for a text, and clicks the button of the dialog with the same name. */
  async confirm(name: string, text: string | RegExp = name): Promise<void> {
    await this.button(name).click();
    await this.waitForText(text);
    await this.dialog.getByRole('button', { name }).click();
  }

  /** Waits until the page contains a text. */
  async waitForText(text: string | RegExp): Promise<void> {
    await this.page.getByText(text).first().waitFor();
  }

  /** Returns the rows of a table as the texts of their cells. */
  async readRows(table: string): Promise<string[][]> {
    const rows = this.page.getByRole('region', { name: table, exact: true }).locator('tbody tr');
    await rows.first().waitFor();
    return rows.evaluateAll((found) =>
      found.map((row) =>
        Array.from(row.querySelectorAll('td'), ({ textContent }) => (textContent ?? '').trim()),
      ),
    );
  }

  /** Waits until the page and its data are loaded. */
  async waitUntilLoaded(): Promise<void> {
    await this.page.waitForLoadState('load');
    await this.page.locator('h1', { hasNotText: /^(Loading…|Rollcall)$/ }).waitFor();
    await this.page.locator('[aria-busy=true]').waitFor({ state: 'detached' });
  }

  /** Returns the violations that axe-core finds, with rule and element. @param rules all rules by default. */
  async findViolations(rules: keyof typeof RULES = 'all'): Promise<string[]> {
    if (await this.page.evaluate("typeof axe === 'undefined'")) await this.page.evaluate(axe.source);
    const { violations } = await this.page.evaluate<AxeResults, RunOptions>(
      (options) => (globalThis as unknown as { axe: typeof axe }).axe.run(options),
      { ...RULES[rules], resultTypes: ['violations'] },
    );
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')} ${failureSummary ?? ''}`),
    );
  }

  /** Returns true if the page is wider than the window. */
  hasOverflow(): Promise<boolean> {
    return this.page.locator('html').evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth);
  }

  /** Writes a screenshot to `artifacts/console`, and for some pages to `docs/images`, if UPDATE_PICTURES is set. */
  async takePicture(name: string): Promise<void> {
    if (!process.env['UPDATE_PICTURES']) return;
    mkdirSync(ARTIFACTS, { recursive: true });
    await this.page.screenshot({ path: `${ARTIFACTS}/${name}.png`, fullPage: true });
    const shown = SHOWN[name];
    if (shown !== undefined) await this.page.screenshot({ path: `${PICTURES}/${shown}.png` });
  }
}
