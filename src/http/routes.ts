import type { Request } from 'express';
import { pathOf } from '../telemetry/observe.js';

/** The part of an Express layer that says which path and methods it serves. */
interface Layer {
  match(path: string): boolean;
  route?: { path: string; methods: Record<string, boolean> };
}

/** The methods that the path of this request exists with, in capitals; empty where the path does not exist. */
export function allowedMethods(request: Request): string[] {
  const { stack } = request.app.router as unknown as { stack: Layer[] };
  const path = pathOf(request);
  const matching = stack.filter((layer) => layer.route && !isFallback(layer.route) && matches(layer, path));
  // `/users/me` is no `/users/:user_id`.
  const literal = matching.filter(({ route }) => !route?.path.includes(':'));
  const served = literal.length > 0 ? literal : matching;
  const names = new Set(
    served.flatMap(({ route }) => Object.keys(route?.methods ?? {})).map((name) => name.toUpperCase()),
  );
  if (names.has('GET')) names.add('HEAD');
  return [...names].sort();
}

/** Nest's own layers around unprefixed routes serve every method there is; no route of ours traces. */
function isFallback(route: { methods: Record<string, boolean> }): boolean {
  return 'trace' in route.methods;
}

function matches(layer: Layer, path: string): boolean {
  try {
    return layer.match(path);
  } catch {
    return false; // a broken percent-encoding is no path of ours
  }
}
