import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The guides that the service shows to people: documents of the folder `docs`, and what each is about. */
export const GUIDES: Readonly<Record<string, string>> = {
  connectors: 'write a connector over REST',
  imports: 'files: columns, profiles, guards, the schedule',
  scim: 'identity providers over SCIM',
  console: 'the pages for operators',
  operator: 'the command line, and tasks of operators',
  deployment: 'install, upgrade, back up',
  interface: 'the interface, rule by rule',
};

/** Beside the bundle, and in the repository. */
const FOLDERS = ['./guides/', '../../../docs/'].map((path) => fileURLToPath(new URL(path, import.meta.url)));
const pages = new Map<string, Guide>();

/** A guide as a page: its title, and markup of ours. */
export interface Guide {
  title: string;
  body: string;
}

/** A guide by its name in `GUIDES`. The Markdown is read once. @returns undefined for another name. */
export async function guideOf(name: string): Promise<Guide | undefined> {
  if (!Object.hasOwn(GUIDES, name)) return undefined;
  const known = pages.get(name);
  if (known) return known;
  const folder = FOLDERS.find((each) => existsSync(`${each}${name}.md`)) ?? '';
  const text = readFileSync(`${folder}${name}.md`, 'utf8');
  const page = { title: /^# (.*)$/m.exec(text)?.[1] ?? name, body: await bodyOf(text) };
  pages.set(name, page);
  return page;
}

/** Loaded when somebody reads: no service needs it to start. */
async function bodyOf(text: string): Promise<string> {
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
        if (name === '' && anchor === '') return shown; // a file of the repository
        if (name !== '' && !Object.hasOwn(GUIDES, name)) return shown;
        return `<a href="${name === '' ? '' : `/guides/${name}`}${anchor}">${shown}</a>`;
      },
      image: () => '', // the pages load nothing
    },
  }).parse(text);
}

/** The anchor of a heading, as the usual platforms make it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');
