import type { RowsQuery, RunsQuery } from '../../import/import.query.js';
import type { ImportRowPageDto, ImportRunDto, ImportRunPageDto } from '../../import/imports.dto.js';
import type { Decision, ImportsAccess } from './imports-access.js';
import type { RemoteService } from './remote-service.js';

const EVENT = /^data: (.*)$/;

/** The runs of a running service, over its REST interface. */
export class RemoteImports implements ImportsAccess {
  constructor(private readonly service: RemoteService) {}

  async list(query: RunsQuery): Promise<ImportRunPageDto> {
    return this.service.json('GET', 'imports', { query });
  }

  async get(id: string): Promise<ImportRunDto> {
    return this.service.json('GET', `imports/${id}`);
  }

  async rows(id: string, wanted: RowsQuery): Promise<{ found: ImportRowPageDto; next: string | undefined }> {
    const { offset, after, ...others } = wanted;
    const query = { ...others, ...(after === undefined ? { offset } : { after }) };
    const answer = await this.service.send('GET', `imports/${id}/rows`, { query });
    return { found: (await answer.json()) as ImportRowPageDto, next: this.service.nextOf(answer) };
  }

  async decide(id: string, decision: Decision, dryRun: boolean): Promise<ImportRunDto> {
    const query = decision === 'revert' ? { dry_run: dryRun } : {};
    return this.service.json('POST', `imports/${id}/${decision}`, { query });
  }

  async *watch(id: string): AsyncGenerator<ImportRunDto> {
    let text = '';
    for await (const piece of this.service.text(`imports/${id}/events`)) {
      const lines = (text + piece).split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) {
        const [, run] = EVENT.exec(line) ?? [];
        if (run !== undefined) yield JSON.parse(run) as ImportRunDto;
      }
    }
  }

  async *failed(id: string): AsyncGenerator<string> {
    yield* this.service.text(`imports/${id}/failed.csv`);
  }
}
