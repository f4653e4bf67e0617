import type { Request } from 'express';

/** The part of an Express layer that says which path and methods it serves. */
interface Layer {
  match(path: string): boolean;
  route?: { methods: Record<string, boolean> };
}

/** The whole path as the client sent it; inside a router `request.path` lacks what the router is mounted on. */
export function pathOf(request: Request): string {
  return request.originalUrl.split('?', 1)[0] ?? '';
}

/** The methods that the path of this request exists with, in capitals; empty where the path does not exist. */
export function allowedMethods(request: Request): string[] {
  const { stack } = request.app.router as unknown as { stack: Layer[] };
  const path = pathOf(request);
  const served = stack.filter((layer) => layer.route !== undefined && matches(layer, path));
  const names = new Set(
    served.flatMap(({ route }) => Object.keys(route?.methods ?? {})).map((name) => name.toUpperCase()),
  );
  if (names.has('GET')) names.add('HEAD');
  return [...names].sort();
}

function matches(layer: Layer, path: string): boolean {
  try {
    return layer.match(path);
  } catch {
    return false; // a broken percent-encoding is no path of ours
  }
}
