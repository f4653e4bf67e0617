import type { IncomingMessage } from 'node:http';
import type { TestApp } from './app.js';
import { templateOf } from './contract.js';
import { PREFIX, ROUTES } from './routes.js';

/** Records the operations that an application is asked for, and their query parameters. */
export class Driven {
  private readonly seen = new Set<string>();

  constructor({ app }: TestApp) {
    app.getHttpServer().on('request', ({ method, url }: IncomingMessage) => {
      const { pathname, searchParams } = new URL(url ?? '', 'http://localhost');
      const path = templateOf(pathname)?.replace(PREFIX, '') ?? '';
      for (const name of ['', ...searchParams.keys()]) this.seen.add(`${method ?? ''} ${path} ${name}`);
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
