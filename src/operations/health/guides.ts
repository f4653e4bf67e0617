import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

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
const loadedGuides = new Map<string, Guide>();

/** Guide as an HTML page. `body` is trusted HTML. */
export interface Guide {
  title: string;
  body: string;
}

/** Returns a guide by its name, or undefined if `GUIDES` does not list the name. Reads each file only once. */
export async function loadGuide(name: string): Promise<Guide | undefined> {
  if (!Object.hasOwn(GUIDES, name)) return undefined;
  const known = loadedGuides.get(name);
  if (known) return known;
  const folder = FOLDERS.find((each) => existsSync(`${each}${name}.md`)) ?? '';
  const text = readFileSync(`${folder}${name}.md`, 'utf8');
  const page = { title: /^# (.*)$/m.exec(text)?.[1] ?? name, body: await renderBody(text) };
  loadedGuides.set(name, page);
  return page;
}

/** Converts Markdown to HTML. Loads the parser on first use, not at the start of the service. */
async function renderBody(text: string): Promise<string> {
  const { Marked } = await import('marked');
  return new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const shown = this.parser.parseInline(tokens);
        return `<h${depth} id="${anchorOf(this.parser.parseInline(tokens, this.parser.textRenderer))}">${shown}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const shown = this.parser.parseInline(tokens);
        const [, name = '', anchor = ''] = /^(?:(\w+)\.md)?(#[\w-]*)?$/.exec(href) ?? [];
        if (/^https?:/.test(href)) return `<a href="${href}" rel="noreferrer">${shown}</a>`;
        // Show only the text of a link to a file that is not published.
        if (name === '' && anchor === '') return shown;
        if (name !== '' && !Object.hasOwn(GUIDES, name)) return shown;
        return `<a href="${name === '' ? '' : `/guides/${name}`}${anchor}">${shown}</a>`;
      },
      image: () => '', // the pages load no images
    },
  }).parse(text);
}

/** Returns the anchor of a heading, as GitHub creates it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');
