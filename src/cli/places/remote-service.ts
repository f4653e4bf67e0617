import type { Readable } from 'node:stream';
import { errorCode } from '../../platform/common/errors.js';
import { isObject } from '../../platform/common/json.js';

/** A file that is sent as it is read. */
export interface SentFile {
  name: string;
  bytes: Readable;
}

/** A running service, over its REST interface. */
export class RemoteService {
  /** Its API. */
  readonly base: URL;

  /** @param url of the service. @param because why, for the audit. @throws Error for what is no address. */
  constructor(
    url: string,
    private readonly key: string,
    private readonly because?: string,
  ) {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      throw new Error('--url must be the address of a service, such as http://127.0.0.1:3000.');
    this.base = new URL('api/0.3/', `${url.replace(/\/+$/, '')}/`);
  }

  /**
   * @param path below the API. @param query lists are sent as repeated parameters.
   * @throws Error with the detail and the field errors of the service, or why there is no answer.
   */
  async send(
    method: string,
    path: string,
    { query = {}, body, file }: { query?: object; body?: object; file?: SentFile } = {},
  ): Promise<Response> {
    const url = new URL(path, this.base);
    for (const [name, value] of Object.entries(query)) {
      for (const each of [value].flat()) if (each !== undefined) url.searchParams.append(name, String(each));
    }
    const headers = {
      'x-api-key': this.key,
      ...(this.because !== undefined && { 'x-audit-reason': encodeURIComponent(this.because) }),
      ...(body && { 'content-type': 'application/json' }),
      ...(file && { 'content-type': 'text/csv', 'x-file-name': encodeURIComponent(file.name) }),
    };
    const content = file
      ? { body: file.bytes, duplex: 'half' as const }
      : body && { body: JSON.stringify(body) };
    // The key goes to no other address.
    const answer = await fetch(url, { method, headers, redirect: 'manual', ...content }).catch(
      (error: unknown) => {
        throw new Error(this.silence(error));
      },
    );
    if (answer.ok) return answer;
    throw new Error(await this.reason(answer));
  }

  /** JSON of an answer. */
  async json<T>(
    method: string,
    path: string,
    sent: { query?: object; body?: object; file?: SentFile } = {},
  ): Promise<T> {
    return (await (await this.send(method, path, sent)).json()) as T;
  }

  /** The text of an answer, as it comes. */
  async *text(path: string, query: object = {}): AsyncGenerator<string> {
    const { body } = await this.send('GET', path, { query });
    if (!body) return;
    // The mark at the beginning is a part of the file.
    yield* body.pipeThrough(new TextDecoderStream('utf-8', { ignoreBOM: true }));
  }

  /** `after` of the next page of a list, where there is one. */
  nextOf(answer: Response): string | undefined {
    const [, link] = /<([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '') ?? [];
    return link === undefined ? undefined : (new URL(link, this.base).searchParams.get('after') ?? undefined);
  }

  /** Why there is no answer, and what to do. */
  private silence(error: unknown): string {
    const cause = error instanceof Error ? error.cause : undefined;
    const why = errorCode(cause) ?? (error instanceof Error ? error.message : String(error));
    if (/CERT|SSL|TLS|SIGNATURE/.test(why))
      return `${this.base.origin} cannot be trusted (${why}). Check --url; NODE_EXTRA_CA_CERTS names a file with the certificate of your own authority.`;
    return `No service answers at ${this.base.origin} (${why}); check --url.`;
  }

  private async reason(answer: Response): Promise<string> {
    const elsewhere = answer.headers.get('location');
    if (answer.status >= 300 && answer.status < 400 && elsewhere !== null)
      return `${this.base.origin} leads to ${new URL(elsewhere, this.base).origin}, which gets no key: use the right address as --url.`;
    const problem: unknown = await answer.json().catch(() => undefined);
    if (!isObject(problem) || typeof problem['detail'] !== 'string')
      return `${this.base.origin} answered with the status ${answer.status}.`;
    // Of a fault of the service its log says more.
    const isFault = answer.status >= 500 && typeof problem['request_id'] === 'string';
    const id = isFault ? ` (request ${String(problem['request_id'])})` : '';
    return `${problem['detail']}${answer.status === 401 ? ' Check --key.' : ''}${id}`;
  }
}
