import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { renderPage } from '../../platform/http/html-page.js';

/** Maps the guides that the service publishes to short descriptions. A guide is a document in the folder `docs`. */
export const GUIDES: Readonly<Record<string, string>> = {
  connectors: 'write a connector for the REST interface',
  imports: 'import CSV files: columns, profiles, guards, schedule',
  scim: 'connect an identity provider over SCIM',
  console: 'use the web pages for operators',
  operator: 'use the command line, and common tasks of operators',
  deployment: 'install, upgrade and back up the service',
  interface: 'look up every rule of the REST interface',
};

/** Possible paths of the folder `docs`: from the bundle in `dist`, or from this file in `build`. */
const FOLDERS = ['../docs/', '../../../docs/'].map((path) => fileURLToPath(new URL(path, import.meta.url)));
const renderedGuides = new Map<string, string>();

/** Renders the page of a guide. Returns undefined if `GUIDES` does not list the name. Renders each guide only once. */
export async function renderGuide(name: string): Promise<string | undefined> {
  if (!Object.hasOwn(GUIDES, name)) return undefined;
  const known = renderedGuides.get(name);
  if (known !== undefined) return known;
  const folder = FOLDERS.find((each) => existsSync(`${each}${name}.md`)) ?? '';
  const page = await renderMarkdown(readFileSync(`${folder}${name}.md`, 'utf8'));
  renderedGuides.set(name, page);
  return page;
}

/**
 * Renders a page from trusted Markdown, whose first heading is the title of the page. Loads the parser on first use, not
 * at the start of the service.
 */
export async function renderMarkdown(text: string): Promise<string> {
  const { Marked } = await import('marked');
  const body = await new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const shown = this.parser.parseInline(tokens);
        return `<h${depth} id="${anchorOf(this.parser.parseInline(tokens, this.parser.textRenderer))}">${shown}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const shown = this.parser.parseInline(tokens);
        const [, name = '', anchor = ''] = /^(?:(\w+)\.md)?(#[\w-]*)?$/.exec(href) ?? [];
        if (/^(https?:|\/)/.test(href)) return `<a href="${href}" rel="noreferrer">${shown}</a>`;
        // Show only the text of a link to a file that is not published.
        if (name === '' && anchor === '') return shown;
        if (name !== '' && !Object.hasOwn(GUIDES, name)) return shown;
        return `<a href="${name === '' ? '' : `/guides/${name}`}${anchor}">${shown}</a>`;
      },
      image: () => '', // the pages load no images
    },
  }).parse(text);
  return renderPage(/^# (.*)$/m.exec(text)?.[1] ?? '', body);
}

/** Returns the anchor of a heading, as GitHub creates it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');
