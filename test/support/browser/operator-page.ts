import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { SwaggerPage } from './swagger-page.js';

const PICTURES = fileURLToPath(new URL('../../../docs/images', import.meta.url));

/** What an operator sees of Swagger UI before anything is filled in. */
export class OperatorPage extends SwaggerPage {
  static override async open(browser: Browser, url: string): Promise<OperatorPage> {
    const page = await super.open(browser, url);
    if (!(page instanceof OperatorPage)) throw new Error('opened as another page');
    return page;
  }

  /** What the page says of who is logged in. */
  who(text: RegExp): Promise<void> {
    return this.page.locator('#who', { hasText: text }).waitFor();
  }

  /** The addresses of the guides that the page leads to. */
  guides(): Promise<string[]> {
    return this.page
      .locator('.information-container a[href^="/guides/"]')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));
  }

  reload(): Promise<unknown> {
    return this.page.reload();
  }

  /**
   * Opens an operation, and then "Try it out".
   * @returns its parameters and fields of a form by name, what is filled in of those that are optional, and its pixels before.
   */
  async prefilled(
    operation: string,
  ): Promise<{ fields: string[]; filled: Record<string, string>; height: number }> {
    const block = this.page.locator(`.opblock[id$="-${operation}"]`);
    await block.locator('.opblock-summary-control').click();
    await block.locator('tr.response[data-code]').first().waitFor();
    const height = Math.round((await block.boundingBox())?.height ?? 0);
    await block.getByRole('button', { name: 'Try it out' }).click();
    await block.getByRole('button', { name: 'Execute' }).waitFor();
    const rows = await block.locator('tr[data-property-name], tr[data-param-name]').evaluateAll((found) =>
      found.map((row) => {
        const field: unknown = row.querySelector(
          'input:not([type=file]):not([type=checkbox]), select, textarea',
        );
        return {
          name: row.getAttribute('data-property-name') ?? row.getAttribute('data-param-name') ?? '',
          isRequired: row.querySelector('.required, .parameter__name.required') !== null,
          value: String(Object(field).value ?? ''),
        };
      }),
    );
    const filled = rows.filter(({ isRequired, value }) => !isRequired && value !== '' && value !== '--');
    return {
      fields: rows.map(({ name }) => name),
      filled: Object.fromEntries(filled.map(({ name, value }) => [name, value])),
      height,
    };
  }

  /** What the lists of an operation offer, by parameter. */
  async choices(operation: string): Promise<Record<string, string[]>> {
    const block = this.page.locator(`.opblock[id$="-${operation}"]`);
    await block.locator('.opblock-summary-control').click();
    await block.getByRole('button', { name: 'Try it out' }).click();
    const rows = await block
      .locator(':is(tr[data-param-name], tr[data-property-name]):has(select)')
      .evaluateAll((found) =>
        found.map((row): [string, string[]] => [
          row.getAttribute('data-param-name') ?? row.getAttribute('data-property-name') ?? '',
          Array.from(row.querySelectorAll('option'), ({ textContent }) => textContent ?? ''),
        ]),
      );
    return Object.fromEntries(rows);
  }

  /** The paths of the operations, in the order of the page. */
  paths(): Promise<string[]> {
    return this.page.locator('.opblock-summary').evaluateAll((found) =>
      found.map((each) => {
        const method = each.querySelector('.opblock-summary-method')?.textContent ?? '';
        return `${method} ${each.querySelector('.opblock-summary-path')?.getAttribute('data-path') ?? ''}`;
      }),
    );
  }

  /** The ids of the operations, in the order of the page. */
  operations(): Promise<string[]> {
    return this.page
      .locator('.opblock')
      .evaluateAll((found) => found.map(({ id }) => id.split('-').at(-1) ?? ''));
  }

  /** Types into the filter box. @returns the tags that are left. */
  async filter(text: string): Promise<string[]> {
    await this.page.locator('.operation-filter-input').fill(text);
    return this.tags();
  }

  /** The tags, in the order of the page. */
  tags(): Promise<string[]> {
    return this.page
      .locator('.opblock-tag')
      .evaluateAll((tags) => tags.map((tag) => tag.getAttribute('data-tag') ?? ''));
  }

  /** The first field of the dialog of "Authorize". */
  async firstScheme(): Promise<string> {
    await this.page.locator('.btn.authorize').first().click();
    const text = await this.page.locator('.auth-container').first().innerText();
    await this.page.locator('.close-modal').click();
    return text;
  }

  /** The address of the request that an operation sends, once it is executed as it is shown. */
  async requested(operation: string): Promise<string> {
    const block = this.page.locator(`.opblock[id$="-${operation}"]`);
    await block.locator('.opblock-summary-control').click();
    await block.getByRole('button', { name: 'Try it out' }).click();
    await block.getByRole('button', { name: 'Execute' }).click();
    await block.locator('.live-responses-table').waitFor();
    const address = await block.locator('.request-url pre').innerText();
    await this.fold(operation);
    return address;
  }

  /**
   * A picture for the documents, in `docs/images`, where UPDATE_PICTURES is set: of the window, from an element on.
   * @param at the element; the beginning of the page for none.
   */
  async picture(name: string, at?: string): Promise<void> {
    if (!process.env['UPDATE_PICTURES']) return;
    if (at === undefined) await this.page.setViewportSize({ width: 900, height: 420 });
    else
      await this.page
        .locator(at)
        .first()
        .evaluate((element) => {
          element.scrollIntoView();
        });
    writeFileSync(join(PICTURES, `${name}.png`), await this.page.screenshot());
  }

  /** As `picture`, of an answer, scrolled to a text: without the request, which shows the key. */
  async pictureOfAnswer(name: string, text: string): Promise<void> {
    if (!process.env['UPDATE_PICTURES']) return;
    const answer = this.page.locator('.live-responses-table').first();
    await answer
      .locator('.highlight-code span', { hasText: text })
      .last()
      .evaluate((element) => {
        element.scrollIntoView({ block: 'center' });
      });
    writeFileSync(join(PICTURES, `${name}.png`), await answer.screenshot());
  }
}
