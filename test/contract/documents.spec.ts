import { expect, test } from '@jest/globals';
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { readBlocks } from '../support/process/guide/blocks.js';

const ROOT = new URL('../../', import.meta.url).pathname;
const GENERATED = /^(node_modules|\.git|build|dist|data|coverage|artifacts)(\/|$)/;
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** Every file of the repository, except output of builds and runs. */
const files = readdirSync(ROOT, { withFileTypes: true })
  .filter(({ name }) => !GENERATED.test(name))
  .flatMap((entry) =>
    entry.isDirectory()
      ? readdirSync(join(ROOT, entry.name), { recursive: true, encoding: 'utf8' }).map(
          (file) => `${entry.name}/${file}`,
        )
      : [entry.name],
  );
const paths = new Set([
  ...files,
  ...files.map((file) => `${file}/`),
  ...files.map((file) => `${dirname(file)}/`),
]);
const scripts = Object.keys((JSON.parse(read('package.json')) as { scripts: object }).scripts);

const documents = files.filter((file) => file.endsWith('.md') && !file.startsWith('test/'));

/** Reads the part of a document that is checked. Older sections of the changelog may name deleted files. */
function readChecked(document: string): string {
  const text = read(document);
  return document === 'CHANGELOG.md' ? text.split(/^## /m).slice(0, 2).join('## ') : text;
}

/** Files that a reader creates by following a document. */
const CREATED_BY_READERS = ['api.ts', 'deploy/secrets'];
const SOURCE = /\.(ts|mjs|cjs|md|yaml|service|svg|example)$/;
const FOLDER = /^(src|test|bench|docs|deploy|samples|\.ci)\//;

/** Finds the files and folders that a text names: `src/…`, `users/….ts`, `schedule.service.ts`. */
const findNames = (text: string): string[] =>
  text
    .split(/[\s"'`()<>,;=|]+/)
    .map((word) => word.replace(/^\.\//, '').replace(/[.:…]+$/, ''))
    .filter((word) => /^[\w.*@-]+(\/[\w.*@-]*)*$/.test(word) && !GENERATED.test(word))
    .filter((word) => FOLDER.test(word) || (SOURCE.test(word) && !/^\.\w+$/.test(word)))
    .filter((word) => !CREATED_BY_READERS.some((made) => word.startsWith(made)));

/** Returns true if the repository has a file, folder or test of this path. The path may start below the root. */
function exists(name: string): boolean {
  if (paths.has(name)) return true;
  const pattern = name.replace(/[.]/g, '\\.').replace(/\*/g, '[^/]*');
  const matching = new RegExp(
    `${FOLDER.test(name) ? '^' : '(^|/)'}${pattern}(\\.e2e-spec\\.ts|\\.spec\\.ts|/)?$`,
  );
  return files.some((file) => matching.test(file));
}

const FENCE = /^( *)```.*\n[^]*?^\1```$/gm;
const proseOf = (text: string): string => text.replace(FENCE, '');
const fencesOf = (text: string): string => (text.match(FENCE) ?? []).join('\n');
const codeOf = (text: string): string[] =>
  [...proseOf(text).matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);

test.each(documents)('the document %s names only existing files', (document) => {
  const text = readChecked(document);
  const named = [
    ...codeOf(text).flatMap(findNames),
    ...findNames(fencesOf(text)).filter((name) => FOLDER.test(name)),
  ];
  expect(named.filter((name) => !exists(name))).toEqual([]);
});

test.each(documents)('each command in the document %s has a test or exemption', (document) => {
  const blocks = readBlocks(document).filter(({ kind }) => kind === 'sh');
  for (const { noRun } of blocks) if (noRun !== undefined) expect(noRun).toMatch(/\w{2,}.* \w{2,}/);
  const guides = files.filter((file) => /^test\/.*guides?\.e2e-spec\.ts$/.test(file)).map(read);
  const isFollowed = guides.some((guide) => guide.includes(`'${document}'`));
  expect(isFollowed).toBe(blocks.some(({ noRun }) => noRun === undefined));
});

/** Returns the anchor that Markdown platforms give to a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');

test.each(documents)('the document %s contains only links with an existing target', (document) => {
  const links = [...proseOf(readChecked(document)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  const broken = links
    .filter((link) => !/^https?:/.test(link))
    .filter((link) => {
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? document : normalize(join(dirname(document), file));
      if (!paths.has(target)) return true;
      const headings = anchor === undefined ? [] : (read(target).match(/^#+ .*$/gm) ?? []).map(anchorOf);
      return anchor !== undefined && !headings.includes(anchor);
    });
  expect(broken).toEqual([]);
});

test.each(documents)('the document %s names only existing npm scripts and decision records', (document) => {
  const text = readChecked(document);
  const named = [...text.matchAll(/npm run ([a-z:-]+)/g)].map(([, script = '']) => script);
  expect(named.filter((script) => !scripts.includes(script))).toEqual([]);
  const decisions = [...text.matchAll(/\bADRs? 0*(\d+)/g)].map(([, number = '']) => number.padStart(4, '0'));
  expect(decisions.filter((number) => !files.some((file) => file.startsWith(`docs/adr/${number}-`)))).toEqual(
    [],
  );
});

/** Lists the subfolders of a folder, with a final slash. */
const listFolders = (parent: string): string[] =>
  readdirSync(join(ROOT, parent), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${name}/`)
    .sort();

test('docs/architecture.md assigns every folder of src to a layer', () => {
  const section = /^## Layers\n[^]*?(?=^## )/m.exec(read('docs/architecture.md'))?.[0] ?? '';
  const rows = (section.match(/^\| .*\|$/gm) ?? []).map((row) =>
    row.split('|').map((cell) => [...cell.matchAll(/`([a-z/-]+\/)`/g)].map(([, folder = '']) => folder)),
  );
  const layers = rows.filter(([, , inner]) => inner?.length === 0).flatMap(([, folders = []]) => folders);
  expect(layers.sort()).toEqual(listFolders('src'));
  const layered = rows.filter(([, , inner = []]) => inner.length > 0);
  expect(layered.length).toBe(6);
  for (const [, [folder] = [], inner] of layered) expect(inner?.sort()).toEqual(listFolders(`src/${folder}`));
});

/** Requirements in docs/asvs.md: number, status, and the tests named after the dot. A row may cover `2.7.1–6`. */
const requirements = (read('docs/asvs.md').match(/^\| \d+\.\d+\.\d.*$/gm) ?? []).flatMap((row) => {
  const [, number = '', , status = '', place = ''] = row.split('|').map((cell) => cell.trim());
  const named = / · ((?:[a-z0-9/-]+, )*[a-z0-9/-]+)/.exec(place)?.[1]?.split(', ') ?? [];
  const [, first, last = first] = /\.(\d+)(?:–(\d+))?$/.exec(number) ?? [];
  const requirement = { number, status, chapter: number.split('.')[0] ?? '', named };
  return Array<typeof requirement>(Number(last) - Number(first) + 1).fill(requirement);
});

test('docs/asvs.md names an existing test for every met requirement', () => {
  expect(requirements.length).toBe(259);
  const met = requirements.filter(({ status }) => status === 'met');
  expect(met.filter(({ named }) => named.length === 0).map(({ number }) => number)).toEqual([]);
  const tests = files.filter((file) => file.startsWith('test/'));
  const isTest = (name: string) =>
    ['.spec.ts', '.e2e-spec.ts'].some((end) => tests.some((path) => path.endsWith(`/${name}${end}`)));
  const missing = requirements.flatMap(({ number, named }) =>
    named.filter((name) => !isTest(name)).map((name) => `${number}: ${name}`),
  );
  expect(missing).toEqual([]);
});

test('the totals in docs/asvs.md match the listed requirements', () => {
  const count = (chapter: string, status: string) =>
    requirements.filter((row) => (chapter === 'All' || row.chapter === chapter) && row.status === status)
      .length;
  const sums = (read('docs/asvs.md').match(/^\| (V\d+ |All ).*$/gm) ?? []).map((row) =>
    row.split('|').map((cell) => cell.trim()),
  );
  expect(sums).toHaveLength(15);
  for (const [, title = '', ...numbers] of sums) {
    const chapter = /^V(\d+)/.exec(title)?.[1] ?? 'All';
    const counted = ['met', 'n.a.', 'open'].map((status) => count(chapter, status));
    expect([title, ...numbers.slice(0, 3).map(Number)]).toEqual([title, ...counted]);
  }
});

test('docs/security.md lists classified assets, actors and trust boundaries', () => {
  const section = (title: string) =>
    new RegExp(`^## ${title}\n[^]*?(?=^## )`, 'm').exec(read('docs/security.md'))?.[0] ?? '';
  const classes = (section('Assets').match(/^\| .*$/gm) ?? [])
    .slice(2)
    .map((row) => row.split('|')[2]?.trim() ?? '');
  expect(classes.length).toBeGreaterThan(5);
  for (const each of classes)
    expect(each).toMatch(/^((secret|personal|evidence|integrity|internal|availability)(, )?)+$/);
  expect(section('Actors').match(/^\| .*$/gm)?.length).toBeGreaterThan(5);
  expect(section('Trust boundaries').match(/^\d\. /gm)?.length).toBeGreaterThan(4);
});
