import { readFileSync } from 'node:fs';

export interface Route {
  method: string;
  /** Below the prefix, with `{user_id}` and the like in it. */
  path: string;
  hasBody: boolean;
  /** Media type of a body that is not JSON. */
  file: string | undefined;
  /** Names of the query parameters. */
  query: string[];
}

interface Operation {
  requestBody?: { content: Record<string, object> };
  parameters?: { in: string; name: string }[];
}

const PREFIX = '/api/0.3';
const document = JSON.parse(readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
};

/** Every route of the OpenAPI file below the prefix. */
export const ROUTES: Route[] = Object.entries(document.paths)
  .filter(([path]) => path.startsWith(PREFIX))
  .flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { requestBody, parameters = [] }]) => ({
      method: method.toUpperCase(),
      path: path.slice(PREFIX.length),
      hasBody: requestBody !== undefined && 'application/json' in requestBody.content,
      file: Object.keys(requestBody?.content ?? {}).find((type) => type !== 'application/json'),
      query: parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name),
    })),
  );

/** The methods of each path of the OpenAPI file, as `Allow` lists them. */
export const METHODS: [string, string[]][] = [...new Set(ROUTES.map(({ path }) => path))].map((path) => {
  const methods = ROUTES.filter((route) => route.path === path).map(({ method }) => method);
  return [path, [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].sort()];
});
