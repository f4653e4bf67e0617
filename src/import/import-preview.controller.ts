import { Controller, HttpCode, Post, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import type { Caller } from '../access/actor.js';
import { CurrentCaller, Requires } from '../access/decorators.js';
import { Accepts } from '../platform/http/input.guard.js';
import { RunQueue } from './apply/run-queue.service.js';
import { FileHead, MAX_FILE_BYTES } from './file/import-store.js';
import { DocPreview, type ImportPreviewDto } from './import-preview.docs.js';
import { ImportPreview } from './mapping/import-preview.js';
import { RequestedOptions } from './runs/import-options.js';

/** Its answer is not kept for a repetition: it holds rows of the file. */
@ApiTags('imports')
@Controller('imports/preview')
export class ImportPreviewController {
  constructor(
    private readonly queue: RunQueue,
    private readonly previews: ImportPreview,
  ) {}

  @Post()
  @DocPreview()
  @HttpCode(200)
  @Requires('imports.write')
  @Accepts({ query: RequestedOptions, file: { type: 'text/csv', maxBytes: MAX_FILE_BYTES } })
  async preview(@CurrentCaller() caller: Caller, @Req() request: Request): Promise<ImportPreviewDto> {
    const head = new FileHead();
    const { file, asked: _, ...requested } = await this.queue.receive(request, caller, head);
    const preview = await this.previews.of(head, requested, caller);
    const { name, size } = file;
    return { file: { name: name.slice(0, 255), size }, profile: requested.profile?.name ?? null, ...preview };
  }
}
