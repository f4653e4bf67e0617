import type { NestExpressApplication } from '@nestjs/platform-express';

/** Returns the routes of the router, with parameters in the notation of the OpenAPI file. */
export function listServedRoutes(nest: NestExpressApplication): string[] {
  interface Layer {
    route?: { path: string; methods: Record<string, boolean> };
  }
  const { router } = nest.getHttpAdapter().getInstance() as unknown as { router: { stack: Layer[] } };
  // Nest adds its own routes for every method. No route of the service supports TRACE.
  const ours = router.stack.filter(({ route }) => route?.methods['trace'] === undefined);
  return ours.flatMap(({ route }) =>
    Object.keys(route?.methods ?? {}).map(
      (method) => `${method.toUpperCase()} ${(route?.path ?? '').replace(/:(\w+)/g, '{$1}')}`,
    ),
  );
}
