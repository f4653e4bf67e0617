import type { Express, Request } from 'express';
import { pathOf } from '../telemetry/observe.js';
import { isObject } from '../common/json.js';

/** The part of an Express layer with its path and methods. */
interface Layer {
  match(path: string): boolean;
  route?: { path: string; methods: Record<string, boolean> };
}

/** The methods of the request's path, in capitals; empty where the path does not exist. */
export function allowedMethods(request: Request): string[] {
  const path = pathOf(request);
  const served = routesOf(request.app).filter((layer) => matches(layer, path));
  const names = new Set(
    served.flatMap(({ route }) => Object.keys(route?.methods ?? {})).map((name) => name.toUpperCase()),
  );
  if (names.has('GET')) names.add('HEAD');
  return [...names].sort();
}

/**
 * A path that is a route by its letters is never taken for the parameter of another one, whatever the method: `/users/me` is
 * not `/users/:user_id`. So a wrong method is found before anything is asked of the parameter. Called after the last route.
 */
export function literalsFirst(app: Express): void {
  const layers = routesOf(app);
  const paths = layers.flatMap(({ route }) => route?.path ?? []);
  for (const layer of layers) {
    const closer = paths.filter((path) => isCloser(path, layer.route?.path ?? ''));
    if (closer.length === 0) continue;
    const taken = new RegExp(`^(?:${[...new Set(closer)].map(patternOf).join('|')})/?$`, 'i');
    const match = layer.match.bind(layer);
    layer.match = (path) => !taken.test(path) && match(path);
  }
}

/** Whether all paths of the first pattern are also paths of the second, which has a parameter where the first has letters. */
function isCloser(path: string, wide: string): boolean {
  const [own, others] = [path.split('/'), wide.split('/')];
  if (own.length !== others.length) return false;
  const differing = own.filter((part, index) => part !== others[index] && !isParameter(part));
  return differing.length > 0 && own.every((part, at) => part === others[at] || isParameter(others[at]));
}

const isParameter = (part = ''): boolean => part.startsWith(':');

const patternOf = (path: string): string =>
  path
    .split('/')
    .map((part) => (isParameter(part) ? '[^/]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')))
    .join('/');

function routesOf({ router }: Pick<Express, 'router'>): Layer[] {
  const layers: unknown[] = router.stack;
  return layers.filter(isRoute);
}

/** Nest's own layers around unprefixed routes serve every method; no route of ours serves TRACE. */
function isRoute(value: unknown): value is Layer {
  if (!isObject(value) || typeof value['match'] !== 'function' || !isObject(value['route'])) return false;
  const { path, methods } = value['route'];
  return typeof path === 'string' && isObject(methods) && !('trace' in methods);
}

function matches(layer: Layer, path: string): boolean {
  try {
    return layer.match(path);
  } catch {
    return true; // a broken percent-encoding, in the parameter of this path
  }
}
