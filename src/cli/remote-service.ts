import type { INestApplicationContext } from '@nestjs/common';
import { Command, Option } from 'commander';
import { errorCode } from '../common/errors.js';
import { isObject } from '../common/json.js';
import { type Application, withApplication } from './application.js';

/** Where a command works: the database of these settings, or a running service. */
export interface Place {
  url?: string;
  key?: string;
}

/** A command with the options of `Place`, and `--json`. */
export const placedCommand = (name: string, description: string): Command =>
  new Command(name)
    .description(description)
    .option('--url <url>', 'of a running service, instead of the database of these settings')
    .addOption(new Option('--key <key>', 'an API key for that service').env('ROLLCALL_KEY'))
    .option('--json', 'as JSON')
    .hook('preAction', (self) => {
      // A key in the environment may be meant for other commands.
      if (self.getOptionValueSource('key') === 'cli' && self.getOptionValue('url') === undefined)
        self.error("error: option '--key' is for a service: it needs --url");
    });

/** What serves one and the same task at the two places. */
export interface Access<T> {
  local: (context: INestApplicationContext) => T;
  remote: (service: RemoteService) => T;
}

/** @throws Error for a service without a key. */
export async function atPlace<T>(
  application: Application,
  { url, key }: Place,
  { local, remote }: Access<T>,
  work: (access: T) => Promise<void>,
): Promise<void> {
  if (url === undefined) return withApplication(application, (context) => work(local(context)));
  if (!key) throw new Error('--url needs an API key: --key, or the variable ROLLCALL_KEY.');
  return work(remote(new RemoteService(url, key)));
}

/** A running service, over its REST interface. */
export class RemoteService {
  /** Its API. */
  readonly base: URL;

  /** @param url of the service. @throws Error for what is no address. */
  constructor(
    url: string,
    private readonly key: string,
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
    { query = {}, body }: { query?: object; body?: object } = {},
  ): Promise<Response> {
    const url = new URL(path, this.base);
    for (const [name, value] of Object.entries(query)) {
      for (const each of [value].flat()) if (each !== undefined) url.searchParams.append(name, String(each));
    }
    const answer = await fetch(url, {
      method,
      headers: { 'x-api-key': this.key, ...(body && { 'content-type': 'application/json' }) },
      redirect: 'error',
      ...(body && { body: JSON.stringify(body) }),
    }).catch((error: unknown) => {
      const cause = error instanceof Error ? error.cause : undefined;
      const why = errorCode(cause) ?? (error instanceof Error ? error.message : String(error));
      throw new Error(`No service answers at ${this.base.origin} (${why}); check --url.`);
    });
    if (answer.ok) return answer;
    throw new Error(await this.reason(answer));
  }

  /** `after` of the next page of a list, where there is one. */
  nextOf(answer: Response): string | undefined {
    const [, link] = /<([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '') ?? [];
    return link === undefined ? undefined : (new URL(link, this.base).searchParams.get('after') ?? undefined);
  }

  private async reason(answer: Response): Promise<string> {
    const problem: unknown = await answer.json().catch(() => undefined);
    if (!isObject(problem) || typeof problem['detail'] !== 'string')
      return `${this.base.origin} answered with the status ${answer.status}.`;
    // Of a fault of the service its log says more.
    const isFault = answer.status >= 500 && typeof problem['request_id'] === 'string';
    const id = isFault ? ` (request ${String(problem['request_id'])})` : '';
    return `${problem['detail']}${answer.status === 401 ? ' Check --key.' : ''}${id}`;
  }
}
