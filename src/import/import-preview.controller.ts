import { HttpCode, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import type { Caller } from '../access/actor.js';
import { CurrentCaller, Requires } from '../access/decorators.js';
import { Accepts } from '../platform/http/input.guard.js';
import { ApiController, DescribeRoute, describeJson } from '../platform/openapi/route-docs.js';
import { ImportWorkerProcess } from './apply/import-worker.service.js';
import { RunQueue } from './apply/run-queue.service.js';
import { FilePrefix } from './file/file-store.js';
import { CSV_UPLOAD } from './import.query.js';
import { ImportPreviewDto, PREVIEW_ROWS } from './mapping/import-preview.dto.js';
import { ImportPreview } from './mapping/import-preview.js';
import { RequestedOptions } from './runs/import-options.js';

const PROFILE_PART = {
  type: 'object',
  additionalProperties: true,
  description: 'Profile that is not saved, in the format of `PUT /import_profiles/{name}`.',
};

/**
 * Controller of previews. Their responses contain rows of the file, so they are never stored for idempotent requests.
 */
@ApiController('imports/preview', 'imports')
export class ImportPreviewController {
  constructor(
    private readonly queue: RunQueue,
    private readonly previews: ImportPreview,
    private readonly worker: ImportWorkerProcess,
  ) {}

  @Post()
  @DescribeRoute('previewImport', 'Preview a CSV file', {
    description:
      `Reads the first 20,000 rows of a file, at most 1 MiB, and shows the first ${PREVIEW_ROWS}. Returns the encoding, the delimiter, how each ` +
      'column is used, suggestions for unknown columns, the rows as user fields, and all errors. `suggested` is a profile that ' +
      'reads the file. Does not store the file or create a run. Accepts the same input as `POST /imports`. A ' +
      '`multipart/form-data` request may also contain a profile that is not saved.',
    changesNothing: true,
    answer: describeJson('The preview.', ImportPreviewDto),
    errors: ['validation_failed', 'wrong_state'],
  })
  @HttpCode(200)
  @Requires('imports.write')
  @Accepts({ query: RequestedOptions, file: { ...CSV_UPLOAD, parts: { profile: PROFILE_PART } } })
  async preview(@CurrentCaller() caller: Caller, @Req() request: Request): Promise<ImportPreviewDto> {
    const head = new FilePrefix();
    const { file, sent: _, ...requested } = await this.queue.receive(request, caller, head);
    const preview = this.worker.isUsed
      ? await this.worker.preview(head, requested, caller.actor)
      : await this.previews.build(head, requested, caller.actor);
    const { name, size } = file;
    return { file: { name, size }, profile: requested.profile?.name ?? null, ...preview };
  }
}
