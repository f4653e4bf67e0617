import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../process/process.js';

/** The addresses of the table of pages, below `/console`. */
export const PATHS = [
  ...readFileSync(join(ROOT, 'console/routes.tsx'), 'utf8').matchAll(/\{\s*path: '([^']+)'/g),
].map(([, path]) => path!);

/** Views of a page that have an address of their own. */
const VIEWS: Record<string, string[]> = {
  '/users': ['?q=nobody-is-like-that', '?sort=surname&order=asc&columns=name,phone,created'],
  '/users/:id': ['?tab=sessions', '?tab=history'],
  '/imports/:id': ['?view=fields'],
};

/** Every page and view: a name for its picture, and its address. @param ids by path, for those that need one. */
export const addresses = (ids: Record<string, string>): [string, string][] =>
  PATHS.flatMap((path) =>
    ['', ...(VIEWS[path] ?? [])].map((view): [string, string] => [
      `${path}${view}`
        .replace(/[^a-z]+/g, ' ')
        .trim()
        .replaceAll(' ', '-'),
      `/console${path.replace(':id', ids[path] ?? ':id')}${view}`,
    ]),
  );
