import type { RowsQuery, RunsQuery } from '../import/import.query.js';
import type { ImportRowPageDto, ImportRunDto, ImportRunPageDto } from '../import/imports.dto.js';
import type { Decision, ImportsAccess } from './imports-access.js';
import type { RemoteService } from './remote-service.js';

const EVENT = /^data: (.*)$/;

/** The runs of a running service, over its REST interface. */
export class RemoteImports implements ImportsAccess {
  constructor(private readonly service: RemoteService) {}

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
    return { found: await this.json<ImportRowPageDto>(answer), next: this.service.nextOf(answer) };
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

  private send(method: string, path: string, query: object = {}): Promise<Response> {
    return this.service.send(method, `imports${path}`, { query });
  }
}
