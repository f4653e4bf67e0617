import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Requires } from '../access/decorators.js';
import { toIso } from '../platform/common/time.js';
import { Accepts, CheckedQuery } from '../platform/http/input.guard.js';
import { Page, page } from '../platform/http/page.js';
import { type AuditSealPageDto, DocAuditSeals } from './audit-seals.docs.js';
import { millisOf } from './event-id.js';
import { Sealer } from './sealer.service.js';

@ApiTags('audit')
@Controller('audit/seals')
export class AuditSealsController {
  constructor(private readonly sealer: Sealer) {}

  @Get()
  @DocAuditSeals()
  @Requires('audit.read')
  @Accepts({ query: Page })
  async list(@CheckedQuery() query: Page): Promise<AuditSealPageDto> {
    const { offset, limit } = page(query);
    const { count, purged, seals } = await this.sealer.page(offset, limit);
    const results = seals.map((seal) => ({
      number: seal.number,
      sealed: toIso(seal.sealed),
      until: new Date(millisOf(seal.until_id)).toISOString(),
      events: seal.row_count,
      late_events: seal.late_count,
      hash: seal.hash,
      keyed: seal.key_id !== '',
      purged: seal.number <= purged,
    }));
    return { Count: count, Results: results };
  }
}
