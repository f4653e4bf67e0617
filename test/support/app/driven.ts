import type { IncomingMessage } from 'node:http';
import type { TestApp } from './app.js';
import { ROUTES } from './routes.js';

const patterns = ROUTES.map((route) => ({
  ...route,
  pattern: new RegExp(`^/api/0\\.3${route.path.replace(/\{[^}]+\}/g, '[^/]+')}$`),
})).sort((a, b) => a.path.split('{').length - b.path.split('{').length);

/** Records the operations that an application is asked for, and their query parameters. */
export class Driven {
  private readonly seen = new Set<string>();

  constructor({ app }: TestApp) {
    app.getHttpServer().on('request', ({ method, url }: IncomingMessage) => {
      const { pathname, searchParams } = new URL(url ?? '', 'http://localhost');
      const route = patterns.find((other) => other.method === method && other.pattern.test(pathname));
      if (!route) return;
      for (const name of ['', ...searchParams.keys()]) this.seen.add(`${route.method} ${route.path} ${name}`);
    });
  }

  /** Operations of the OpenAPI file, and parameters of those that read, that nobody has asked for. */
  get missing(): string[] {
    const all = ROUTES.flatMap(({ method, path, query }) =>
      ['', ...(method === 'GET' ? query : [])].map((name) => `${method} ${path} ${name}`),
    );
    return all.filter((operation) => !this.seen.has(operation));
  }
}
