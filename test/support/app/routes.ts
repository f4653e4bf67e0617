import { OPERATIONS } from './operations.js';

export interface Route {
  method: string;
  /** Path after the prefix, with parameters such as `{user_id}`. */
  path: string;
  hasBody: boolean;
  /** Media type of a body that is not JSON. */
  file: string | undefined;
  /** Names of the query parameters. */
  query: string[];
}

export const PREFIX = '/api/0.3';

/** Every route of the OpenAPI file under the prefix. */
export const ROUTES: Route[] = OPERATIONS.filter(({ path }) => path.startsWith(PREFIX)).map(
  ({ method, path, requestBody, parameters }) => ({
    method,
    path: path.slice(PREFIX.length),
    hasBody: requestBody !== undefined && 'application/json' in requestBody.content,
    file: Object.keys(requestBody?.content ?? {}).find((type) => type !== 'application/json'),
    query: parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name),
  }),
);

/** The methods of each path of the OpenAPI file, as `Allow` lists them. */
export const METHODS: [string, string[]][] = [...new Set(ROUTES.map(({ path }) => path))].map((path) => {
  const methods = ROUTES.filter((route) => route.path === path).map(({ method }) => method);
  return [path, [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].sort()];
});
