import type { IncomingMessage } from 'node:http';
import type { TestApp } from './app.js';
import { templateOf } from './contract.js';
import { PREFIX, ROUTES } from './routes.js';

/** Records the operations that are requested from an application, and their query parameters. */
export class RequestRecorder {
  private readonly seen = new Set<string>();

  constructor({ app }: TestApp) {
    app.getHttpServer().on('request', ({ method, url }: IncomingMessage) => {
      const { pathname, searchParams } = new URL(url ?? '', 'http://localhost');
      const path = templateOf(pathname)?.replace(PREFIX, '') ?? '';
      for (const name of ['', ...searchParams.keys()]) this.seen.add(`${method ?? ''} ${path} ${name}`);
    });
  }

  /** Operations of the OpenAPI file, and query parameters of GET operations, that were not requested. */
  get missing(): string[] {
    const all = ROUTES.flatMap(({ method, path, query }) =>
      ['', ...(method === 'GET' ? query : [])].map((name) => `${method} ${path} ${name}`),
    );
    return all.filter((operation) => !this.seen.has(operation));
  }
}
