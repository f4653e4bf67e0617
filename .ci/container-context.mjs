// Copies the files of a container build to a folder: the files of the COPY lines, without the files that the ignore
// file excludes (https://docs.docker.com/build/concepts/context/#dockerignore-files). CI has no container engine, so a
// build in that folder shows whether a file is missing.
//   node .ci/container-context.mjs <folder> [<dockerfile>]
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const [, , target, dockerfile = 'deploy/Dockerfile'] = process.argv;
const ignoreFile = existsSync(`${dockerfile}.dockerignore`) ? `${dockerfile}.dockerignore` : '.dockerignore';

/**
 * Parses a line of the ignore file. A pattern matches a path and everything below it. `*` matches within a name, and
 * `**` across folders.
 */
const parseRule = (line) => {
  const pattern = line
    .replace(/^!/, '')
    .replace(/^\/|\/$/g, '')
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*\*\/?|\*|\?/g, (wild) => (wild === '*' ? '[^/]*' : wild === '?' ? '[^/]' : '.*'));
  return { keeps: line.startsWith('!'), pattern: new RegExp(`^${pattern}(/|$)`) };
};
const rules = readFileSync(ignoreFile, 'utf8')
  .split('\n')
  .map((line) => line.trim())
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map(parseRule);
/** Returns true if a path is not ignored. The last matching rule decides. */
const isKept = (path) => rules.findLast(({ pattern }) => pattern.test(path))?.keeps ?? true;

const copies = readFileSync(dockerfile, 'utf8')
  .replace(/\\\n/g, ' ')
  .split('\n')
  .filter((line) => /^COPY /.test(line) && !line.includes('--from='))
  .map((line) => line.split(/\s+/).slice(1));

const missing = [];
for (const words of copies) {
  const to = words.at(-1);
  for (const from of words.slice(0, -1)) {
    if (!existsSync(from) || !isKept(from)) missing.push(from);
    else {
      const into = to.endsWith('/') ? join(target, to, from) : join(target, to);
      cpSync(from, into, { recursive: true, filter: (path) => isKept(relative('.', path)) });
    }
  }
}
if (missing.length > 0) {
  console.error(
    `${dockerfile} copies files that ${ignoreFile} excludes or that do not exist: ${missing.join(', ')}`,
  );
  process.exit(1);
}
console.log(`${copies.flatMap((words) => words.slice(0, -1)).join(', ')} as ${dockerfile} copies them`);
