import { errorCode } from '../common/errors.js';
import { isObject } from '../common/json.js';
import type { RowsQuery, RunsQuery } from '../import/import.query.js';
import type { ImportRowPageDto, ImportRunDto, ImportRunPageDto } from '../import/imports.dto.js';
import type { Decision, ImportsAccess } from './imports-access.js';

const EVENT = /^data: (.*)$/;

/** The runs of a running service, over its REST interface. */
export class RemoteImports implements ImportsAccess {
  private readonly base: URL;

  /** @param url of the service. @throws Error for what is no address. */
  constructor(
    url: string,
    private readonly key: string,
  ) {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      throw new Error('--url must be the address of a service, such as http://127.0.0.1:3000.');
    this.base = new URL('api/0.3/imports', `${url.replace(/\/+$/, '')}/`);
  }

  async list(query: RunsQuery): Promise<ImportRunPageDto> {
    return this.json<ImportRunPageDto>(await this.send('GET', '', query));
  }

  async get(id: string): Promise<ImportRunDto> {
    return this.json<ImportRunDto>(await this.send('GET', `/${id}`));
  }

  async rows(id: string, query: RowsQuery): Promise<{ found: ImportRowPageDto; next: string | undefined }> {
    const { offset, after, ...others } = query;
    const answer = await this.send('GET', `/${id}/rows`, {
      ...others,
      ...(after === undefined ? { offset } : { after }),
    });
    const [, link] = /<([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '') ?? [];
    const next = link === undefined ? null : new URL(link, this.base).searchParams.get('after');
    return { found: await this.json<ImportRowPageDto>(answer), next: next ?? undefined };
  }

  async decide(id: string, decision: Decision, dryRun: boolean): Promise<ImportRunDto> {
    const query = decision === 'revert' ? { dry_run: dryRun } : {};
    return this.json<ImportRunDto>(await this.send('POST', `/${id}/${decision}`, query));
  }

  async *watch(id: string): AsyncGenerator<ImportRunDto> {
    let text = '';
    for await (const piece of this.text(`/${id}/events`)) {
      const lines = (text + piece).split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) {
        const [, run] = EVENT.exec(line) ?? [];
        if (run !== undefined) yield JSON.parse(run) as ImportRunDto;
      }
    }
  }

  async *failed(id: string): AsyncGenerator<string> {
    yield* this.text(`/${id}/failed.csv`);
  }

  private async *text(path: string): AsyncGenerator<string> {
    const { body } = await this.send('GET', path);
    if (!body) return;
    // The mark at the beginning is a part of the file.
    yield* body.pipeThrough(new TextDecoderStream('utf-8', { ignoreBOM: true }));
  }

  private async json<T>(answer: Response): Promise<T> {
    return (await answer.json()) as T;
  }

  /** @throws Error with the detail of the service, or why there is no answer. */
  private async send(method: string, path: string, query: object = {}): Promise<Response> {
    const url = new URL(this.base.href + path);
    for (const [name, value] of Object.entries(query)) {
      for (const each of [value].flat()) if (each !== undefined) url.searchParams.append(name, String(each));
    }
    const request = { method, headers: { 'x-api-key': this.key }, redirect: 'error' } as const;
    const answer = await fetch(url, request).catch((error: unknown) => {
      const cause = error instanceof Error ? error.cause : undefined;
      const why = errorCode(cause) ?? (error instanceof Error ? error.message : String(error));
      throw new Error(`No service answers at ${this.base.origin} (${why}); check --url.`);
    });
    if (answer.ok) return answer;
    const problem: unknown = await answer.json().catch(() => undefined);
    const detail = isObject(problem) && typeof problem['detail'] === 'string' ? problem['detail'] : '';
    const hint = answer.status === 401 ? ' Check --key.' : '';
    throw new Error(`${detail || `${this.base.origin} answered with the status ${answer.status}.`}${hint}`);
  }
}
