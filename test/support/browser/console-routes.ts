import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../process/process.js';

/** Paths in the table of pages, relative to `/console`. */
export const PATHS = [
  ...readFileSync(join(ROOT, 'console/routes.tsx'), 'utf8').matchAll(/\{\s*path: '([^']+)'/g),
].map(([, path]) => path!);

/** Query strings of views, by the path of their page. */
const VIEWS: Record<string, string[]> = {
  '/users': ['?q=no-such-user', '?sort=surname&order=asc&columns=name,phone,created'],
  '/users/:id': ['?tab=sessions', '?tab=history'],
  '/imports/:id': ['?view=fields'],
};

/** Lists every page and view with a file name for its picture and its URL. @param ids values of the parameter, by path. */
export const listPages = (ids: Record<string, string>): [string, string][] =>
  PATHS.flatMap((path) =>
    ['', ...(VIEWS[path] ?? [])].map((view): [string, string] => [
      `${path}${view}`
        .replace(/[^a-z]+/g, ' ')
        .trim()
        .replaceAll(' ', '-'),
      `/console${path.replace(/:\w+/, (name) => ids[path] ?? name)}${view}`,
    ]),
  );
