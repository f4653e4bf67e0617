import type { NestExpressApplication } from '@nestjs/platform-express';

/** The routes that the router really has, with the parameters as the OpenAPI file writes them. */
export function servedRoutes(nest: NestExpressApplication): string[] {
  interface Layer {
    route?: { path: string; methods: Record<string, boolean> };
  }
  const { router } = nest.getHttpAdapter().getInstance() as unknown as { router: { stack: Layer[] } };
  // Nest's own layers around routes without the prefix serve every method; no route of ours serves TRACE.
  const ours = router.stack.filter(({ route }) => route?.methods['trace'] === undefined);
  return ours.flatMap(({ route }) =>
    Object.keys(route?.methods ?? {}).map(
      (method) => `${method.toUpperCase()} ${(route?.path ?? '').replace(/:(\w+)/g, '{$1}')}`,
    ),
  );
}
