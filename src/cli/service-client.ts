import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Duplex, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { errorCodeOf, messageOf } from '../platform/common/errors.js';
import { isObject, tryParseJson } from '../platform/common/json.js';

export interface SentFile {
  type: string;
  name: string;
  bytes: Readable;
}

interface Input {
  /** Query parameters. A list is sent as a repeated parameter. */
  query?: object;
  body?: object;
  file?: SentFile;
  headers?: Readonly<Record<string, string>>;
}

/** Thrown for an error response. The message contains its detail. */
export class ServiceError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

interface Connection {
  url?: string;
  /** Opens a connection to a service on this machine, or to the application of this process. */
  connect?: () => Duplex;
  headers: Readonly<Record<string, string>>;
}

/** Returns the address of `path` below the address of a service. @throws Error for an invalid address. */
export function toServiceUrl(url: string, path: string): URL {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new Error('--url must be the address of a service, such as http://127.0.0.1:3000.');
  return new URL(path, `${url.replace(/\/+$/, '')}/`);
}

export class ServiceClient {
  private readonly base = toServiceUrl(this.connection.url ?? 'http://localhost', 'api/0.3/');
  /** Address of the service, as shown to operators. */
  readonly name = this.base.origin;
  /** True if the requests use the private socket or the application of this process. They then need no API key. */
  readonly isLocal = this.connection.connect !== undefined;

  /** @throws Error for an invalid address. */
  constructor(private readonly connection: Connection) {}

  /**
   * Sends a request.
   * @param path relative to the base path of the API.
   * @throws ServiceError for an error response, or Error with the reason why the connection failed.
   */
  async send(
    method: string,
    path: string,
    { query = {}, body, file, headers: extra }: Input = {},
  ): Promise<IncomingMessage> {
    const url = new URL(path, this.base);
    for (const [name, value] of Object.entries(query)) {
      for (const each of [value].flat()) if (each !== undefined) url.searchParams.append(name, String(each));
    }
    const headers = {
      ...this.connection.headers,
      ...extra,
      ...(body && { 'content-type': 'application/json' }),
      ...(file && { 'content-type': file.type, 'x-file-name': encodeURIComponent(file.name) }),
    };
    const content = file?.bytes ?? (body && JSON.stringify(body));
    const answer = await this.sendOnNewConnection(url, { method, headers }, content).catch(
      (error: unknown) => {
        throw new Error(this.describeConnectionError(error));
      },
    );
    const { statusCode: status = 0 } = answer;
    if (status >= 200 && status < 300) return answer;
    throw new ServiceError(status, await this.describeErrorResponse(status, answer));
  }

  async requestJson<T>(method: string, path: string, sent: Input = {}): Promise<T> {
    return JSON.parse(await text(await this.send(method, path, sent))) as T;
  }

  /** Requests a page of a list. `next` is the cursor of the next page, or undefined after the last page. */
  async getPage<T>(path: string, query: object): Promise<T & { next: string | undefined }> {
    const answer = await this.send('GET', path, { query });
    const [, link] = /<([^>]+)>; rel="next"/.exec(String(answer.headers['link'])) ?? [];
    const next = link === undefined ? undefined : new URL(link, this.base).searchParams.get('after');
    return { ...(JSON.parse(await text(answer)) as T), next: next ?? undefined };
  }

  /** Streams the text of a response, including its byte order mark. */
  async *getText(path: string, query: object = {}): AsyncGenerator<string> {
    const answer = await this.send('GET', path, { query });
    for await (const piece of answer.setEncoding('utf8')) yield String(piece);
  }

  /** Sends one request on a separate connection. Redirects are not followed, so the API key reaches no other address. */
  private sendOnNewConnection(
    url: URL,
    options: { method: string; headers: Record<string, string> },
    content: Readable | string | undefined,
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const request = url.protocol === 'https:' ? requestHttps : requestHttp;
      const { connect } = this.connection;
      const how = connect ? { createConnection: connect } : { agent: false };
      const sent = request(url, { ...options, ...how }, resolve);
      // Calling `reject` after the response has arrived does nothing.
      sent.on('error', reject);
      if (typeof content === 'object') pipeline(content, sent).catch(reject);
      else sent.end(content);
    });
  }

  private describeConnectionError(error: unknown): string {
    const why = errorCodeOf(error) ?? messageOf(error);
    if (this.isLocal) return `The service does not answer (${why}).`;
    if (/CERT|SSL|TLS|SIGNATURE/.test(why))
      return `The certificate of ${this.name} cannot be trusted (${why}). Check --url. For a private certificate authority, set NODE_EXTRA_CA_CERTS to its certificate file.`;
    return `No service answers at ${this.name} (${why}). Check --url.`;
  }

  private async describeErrorResponse(status: number, answer: IncomingMessage): Promise<string> {
    const { location } = answer.headers;
    if (status >= 300 && status < 400 && location !== undefined)
      return `${this.name} redirects to ${new URL(location, this.base).origin}. The API key was not sent there. Pass the final address as --url.`;
    const problem = tryParseJson(await text(answer));
    if (!isObject(problem) || typeof problem['detail'] !== 'string')
      return `${this.name} responded with status ${status}.`;
    const { detail, request_id: id } = problem;
    // The request id lets an operator find the details in the log of the service.
    const source = status >= 500 && typeof id === 'string' ? ` (request ${id})` : '';
    return `${detail}${status === 401 ? ' Check --key.' : ''}${source}`;
  }
}
