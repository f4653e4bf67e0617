import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Duplex, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { errorCode } from '../platform/common/errors.js';
import { isObject } from '../platform/common/json.js';

/** A file that is sent as it is read. */
export interface SentFile {
  type: string;
  name: string;
  bytes: Readable;
}

interface Sent {
  /** Lists are sent as repeated parameters. */
  query?: object;
  body?: object;
  file?: SentFile;
}

/** How a service is reached: at an address, or as the commands of its machine reach it. */
interface Connection {
  url?: string;
  /** Opens a connection to a service of this machine. */
  connect?: () => Duplex;
  headers: Readonly<Record<string, string>>;
  passwordLength?: number;
}

/** The REST interface of a service. */
export class ServiceClient {
  /** The service, for operators. */
  readonly name: string;
  /** Whether the service takes the caller for itself. */
  readonly isLocal: boolean;
  /** Characters of a new password at the least, 0 where only the service knows it. */
  readonly passwordLength: number;
  private readonly base: URL;

  /** @throws Error for an invalid address. */
  constructor(private readonly connection: Connection) {
    const { url = 'http://localhost', connect, passwordLength = 0 } = connection;
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      throw new Error('--url must be the address of a service, such as http://127.0.0.1:3000.');
    this.base = new URL('api/0.3/', `${url.replace(/\/+$/, '')}/`);
    this.name = this.base.origin;
    this.isLocal = connect !== undefined;
    this.passwordLength = passwordLength;
  }

  /**
   * @param path below the API.
   * @throws Error with the detail of the service's problem, or why there is no answer.
   */
  async send(method: string, path: string, { query = {}, body, file }: Sent = {}): Promise<IncomingMessage> {
    const url = new URL(path, this.base);
    for (const [name, value] of Object.entries(query)) {
      for (const each of [value].flat()) if (each !== undefined) url.searchParams.append(name, String(each));
    }
    const headers = {
      ...this.connection.headers,
      ...(body && { 'content-type': 'application/json' }),
      ...(file && { 'content-type': file.type, 'x-file-name': encodeURIComponent(file.name) }),
    };
    const content = file?.bytes ?? (body && JSON.stringify(body));
    const answer = await this.exchange(url, { method, headers }, content).catch((error: unknown) => {
      throw new Error(this.describeSilence(error));
    });
    const { statusCode: status = 0 } = answer;
    if (status >= 200 && status < 300) return answer;
    throw new Error(await this.describeRefusal(status, answer));
  }

  /** Returns the JSON of an answer. */
  async json<T>(method: string, path: string, sent: Sent = {}): Promise<T> {
    return JSON.parse(await text(await this.send(method, path, sent))) as T;
  }

  /** Returns a page of a list, and `after` of the next one, where there is one. */
  async page<T>(path: string, query: object): Promise<T & { next: string | undefined }> {
    const answer = await this.send('GET', path, { query });
    const [, link] = /<([^>]+)>; rel="next"/.exec(String(answer.headers['link'])) ?? [];
    const next = link === undefined ? undefined : new URL(link, this.base).searchParams.get('after');
    return { ...(JSON.parse(await text(answer)) as T), next: next ?? undefined };
  }

  /** Yields the text of an answer as it comes, with its byte order mark. */
  async *text(path: string, query: object = {}): AsyncGenerator<string> {
    const answer = await this.send('GET', path, { query });
    for await (const piece of answer.setEncoding('utf8')) yield String(piece);
  }

  /** Sends one request on a connection of its own. The key goes to no other address, since no redirect is followed. */
  private exchange(
    url: URL,
    options: { method: string; headers: Record<string, string> },
    content: Readable | string | undefined,
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const request = url.protocol === 'https:' ? requestHttps : requestHttp;
      const { connect } = this.connection;
      const how = connect ? { createConnection: connect } : { agent: false };
      const sent = request(url, { ...options, ...how }, resolve);
      sent.on('error', reject); // after the answer, this has no effect
      if (typeof content === 'object') pipeline(content, sent).catch(reject);
      else sent.end(content);
    });
  }

  /** Describes why there is no answer, and what to do. */
  private describeSilence(error: unknown): string {
    const why = errorCode(error) ?? (error instanceof Error ? error.message : String(error));
    if (this.isLocal) return `The service does not answer (${why}).`;
    if (/CERT|SSL|TLS|SIGNATURE/.test(why))
      return `${this.name} cannot be trusted (${why}). Check --url; NODE_EXTRA_CA_CERTS names a file with the certificate of your own authority.`;
    return `No service answers at ${this.name} (${why}); check --url.`;
  }

  private async describeRefusal(status: number, answer: IncomingMessage): Promise<string> {
    const { location } = answer.headers;
    if (status >= 300 && status < 400 && location !== undefined)
      return `${this.name} leads to ${new URL(location, this.base).origin}, which gets no key: use the right address as --url.`;
    const problem = readProblem(await text(answer));
    if (!problem) return `${this.name} answered with the status ${status}.`;
    // The log of the service has more about a fault.
    const id = status >= 500 && problem.request_id ? ` (request ${problem.request_id})` : '';
    return `${problem.detail}${status === 401 ? ' Check --key.' : ''}${id}`;
  }
}

function readProblem(body: string): { detail: string; request_id: string | undefined } | undefined {
  try {
    const problem: unknown = JSON.parse(body);
    if (!isObject(problem) || typeof problem['detail'] !== 'string') return undefined;
    const { detail, request_id: id } = problem;
    return { detail, request_id: typeof id === 'string' ? id : undefined };
  } catch {
    return undefined;
  }
}
