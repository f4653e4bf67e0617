import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Process } from '../process.js';

/**
 * Starts and stops services for the commands of a document, such as `npm start`. The commands post their environment to
 * an HTTP server here and get the welcome text of the service.
 */
export class Services {
  private readonly server = createServer((request, response) => void this.handle(request, response));
  private running: Process | undefined;

  static async listen(): Promise<Services> {
    const services = new Services();
    services.server.listen(0, '127.0.0.1');
    await once(services.server, 'listening');
    return services;
  }

  /** URL to which the commands post. */
  get control(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Address of the running service, as `127.0.0.1:port`. */
  get address(): string | undefined {
    return this.running && new URL(this.running.url).host;
  }

  /** Starts the service in a folder, on a free port. */
  async start(folder: string, settings: Record<string, string>): Promise<void> {
    await this.stop();
    this.running = await Process.startService({ PORT: '0', ...settings }, folder);
  }

  /** Stops the service and the HTTP server. */
  async close(): Promise<void> {
    await this.stop();
    this.server.close();
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const { pathname, searchParams } = new URL(request.url ?? '', this.control);
      const environment = await text(request);
      const variables = Object.fromEntries(environment.split('\0').filter(Boolean).map(parseEntry)) as Record<
        string,
        string
      >;
      if (pathname === '/start') await this.start(searchParams.get('folder') ?? '.', variables);
      else await this.stop();
      response.end(this.running?.err);
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  }

  private async stop(): Promise<void> {
    await this.running?.stop();
    this.running = undefined;
  }
}

const parseEntry = (line: string): [string, string] => [
  line.slice(0, line.indexOf('=')),
  line.slice(line.indexOf('=') + 1),
];
