import { expect, test } from '@jest/globals';
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { blocksOf } from '../support/process/guide/blocks.js';

const ROOT = new URL('../../', import.meta.url).pathname;
const MADE = /^(node_modules|\.git|build|dist|data|coverage|artifacts)(\/|$)/;
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** Every file and folder of the repository, folders with a final slash. Output of builds and runs is left out. */
const files = readdirSync(ROOT, { withFileTypes: true })
  .filter(({ name }) => !MADE.test(name))
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

/** The part of a document that is checked. Older sections of a changelog name files that existed then. */
function textOf(document: string): string {
  const text = read(document);
  return document === 'CHANGELOG.md' ? text.split(/^## /m).slice(0, 2).join('## ') : text;
}

/** Files that a reader creates by following a document. */
const MADE_BY_READERS = ['api.ts', 'deploy/secrets'];
const SOURCE = /\.(ts|mjs|cjs|md|yaml|service|svg|example)$/;
const FOLDER = /^(src|test|bench|docs|deploy|samples|\.ci)\//;

/** The files and folders of the repository that a text names: `src/…`, `users/….ts`, `schedule.service.ts`. */
const namesIn = (text: string): string[] =>
  text
    .split(/[\s"'`()<>,;=|]+/)
    .map((word) => word.replace(/^\.\//, '').replace(/[.:…]+$/, ''))
    .filter((word) => /^[\w.*@-]+(\/[\w.*@-]*)*$/.test(word) && !MADE.test(word))
    .filter((word) => FOLDER.test(word) || (SOURCE.test(word) && !/^\.\w+$/.test(word)))
    .filter((word) => !MADE_BY_READERS.some((made) => word.startsWith(made)));

/** Whether the repository has a file or folder of this path, or a test of it. The path may start below the root. */
function exists(name: string): boolean {
  if (paths.has(name)) return true;
  const pattern = name.replace(/[.]/g, '\\.').replace(/\*/g, '[^/]*');
  const wanted = new RegExp(
    `${FOLDER.test(name) ? '^' : '(^|/)'}${pattern}(\\.e2e-spec\\.ts|\\.spec\\.ts|/)?$`,
  );
  return files.some((file) => wanted.test(file));
}

const FENCE = /^( *)```.*\n[^]*?^\1```$/gm;
const proseOf = (text: string): string => text.replace(FENCE, '');
const fencesOf = (text: string): string => (text.match(FENCE) ?? []).join('\n');
const codeOf = (text: string): string[] =>
  [...proseOf(text).matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);

test.each(documents)('every file that %s names exists', (document) => {
  const text = textOf(document);
  const named = [
    ...codeOf(text).flatMap(namesIn),
    ...namesIn(fencesOf(text)).filter((name) => FOLDER.test(name)),
  ];
  expect(named.filter((name) => !exists(name))).toEqual([]);
});

test.each(documents)('the commands of %s are run by a test, or it says why they are not', (document) => {
  const blocks = blocksOf(document).filter(({ kind }) => kind === 'sh');
  for (const { noRun } of blocks) if (noRun !== undefined) expect(noRun).toMatch(/\w{2,}.* \w{2,}/);
  const guides = files.filter((file) => /^test\/.*guides?\.e2e-spec\.ts$/.test(file)).map(read);
  const isFollowed = guides.some((guide) => guide.includes(`'${document}'`));
  expect(isFollowed).toBe(blocks.some(({ noRun }) => noRun === undefined));
});

/** The anchor that a heading gets on the usual platforms. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');

test.each(documents)('every link of %s has a target', (document) => {
  const links = [...proseOf(textOf(document)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
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

test.each(documents)('every npm script that %s names exists, and every decision', (document) => {
  const text = textOf(document);
  const named = [...text.matchAll(/npm run ([a-z:-]+)/g)].map(([, script = '']) => script);
  expect(named.filter((script) => !scripts.includes(script))).toEqual([]);
  const decisions = [...text.matchAll(/\bADRs? 0*(\d+)/g)].map(([, number = '']) => number.padStart(4, '0'));
  expect(decisions.filter((number) => !files.some((file) => file.startsWith(`docs/adr/${number}-`)))).toEqual(
    [],
  );
});

/** The folders of src, as `a/` and `a/b/`. */
const foldersOf = (parent: string): string[] =>
  readdirSync(join(ROOT, parent), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${name}/`)
    .sort();

test('docs/architecture.md places every folder of src on a layer, and names no other folder', () => {
  const section = /^## Layers\n[^]*?(?=^## )/m.exec(read('docs/architecture.md'))?.[0] ?? '';
  const rows = (section.match(/^\| .*\|$/gm) ?? []).map((row) =>
    row.split('|').map((cell) => [...cell.matchAll(/`([a-z/-]+\/)`/g)].map(([, folder = '']) => folder)),
  );
  const layers = rows.filter(([, , inner]) => inner?.length === 0).flatMap(([, folders = []]) => folders);
  expect(layers.sort()).toEqual(foldersOf('src'));
  const layered = rows.filter(([, , inner = []]) => inner.length > 0);
  expect(layered.length).toBe(6);
  for (const [, [folder] = [], inner] of layered) expect(inner?.sort()).toEqual(foldersOf(`src/${folder}`));
});

/** The rows of docs/asvs.md: number, status, and the tests after the dot. */
const requirements = (read('docs/asvs.md').match(/^\| \d+\.\d+\.\d+ .*$/gm) ?? []).map((row) => {
  const [, number = '', , status = '', place = ''] = row.split('|').map((cell) => cell.trim());
  const named = / · ((?:[a-z0-9/-]+, )*[a-z0-9/-]+)/.exec(place)?.[1]?.split(', ') ?? [];
  return { number, status, chapter: number.split('.')[0] ?? '', named };
});

test('every requirement of docs/asvs.md that is met names a test, and every test that it names exists', () => {
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

test('docs/asvs.md counts its rows as they are', () => {
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

test('docs/security.md gives every asset a class, and names actors and boundaries', () => {
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
