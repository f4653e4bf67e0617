import type { INestApplicationContext } from '@nestjs/common';
import type { AuditEventDto } from '../../audit/audit.docs.js';
import type { AuditQuery } from '../../audit/audit.query.js';
import { AuditService } from '../../audit/audit.service.js';
import { presentEvent } from '../../audit/audit.view.js';
import { toIso } from '../../platform/common/time.js';
import { limitOf } from '../../platform/http/page.js';
import type { RemoteService } from './remote-service.js';

/** A page of events, newest first, and the cursor of the next one, where there is one. */
export interface FoundEvents {
  events: AuditEventDto[];
  next: string | undefined;
}

/** The audit of a database, or that of a service. */
export interface AuditAccess {
  page(query: AuditQuery): Promise<FoundEvents>;
}

/** The audit of the database. */
export class LocalAudit implements AuditAccess {
  constructor(private readonly context: INestApplicationContext) {}

  async page(query: AuditQuery): Promise<FoundEvents> {
    const audit = this.context.get(AuditService);
    const { records, nameOf, last } = await audit.page(query, query.after, limitOf(query));
    return { events: records.map((record) => presentEvent(record, nameOf)), next: last };
  }
}

/** The audit of a running service. */
export class RemoteAudit implements AuditAccess {
  constructor(private readonly service: RemoteService) {}

  async page({ since, until, ...others }: AuditQuery): Promise<FoundEvents> {
    const times = { since: since && toIso(since), until: until && toIso(until) };
    const answer = await this.service.send('GET', 'audit', { query: { ...others, ...times } });
    const { Results: events } = (await answer.json()) as { Results: AuditEventDto[] };
    return { events, next: this.service.nextOf(answer) };
  }
}
