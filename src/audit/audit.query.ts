import { AfterParam, LimitParam } from '../platform/http/page.js';
import {
  ChoiceParam,
  ChoicesParam,
  PatternParam,
  TimeParam,
  UuidParam,
} from '../platform/input/query-rules.js';
import { ACTIONS, ACTOR_KINDS, type AuditAction } from './audit-event.js';

/** Filters of the list and of the CSV export. */
export class AuditFilter {
  @UuidParam({
    description:
      'Id of the user, API key or import that caused the event. Includes events of imports that this user or key started or approved.',
  })
  actor?: string;

  @ChoiceParam(ACTOR_KINDS)
  actor_kind?: string;

  @ChoicesParam(ACTIONS, { description: 'Only events with this action. May be repeated.' })
  action?: AuditAction[];

  @UuidParam({ description: 'Id of the affected user, group, session, API key or import.' })
  target?: string;

  @PatternParam(/^[a-z_]{1,64}(\.\w{1,64})?$/, 'must be the name of a field', {
    example: 'email',
    maxLength: 129,
    description: 'Name of a changed field. Write attributes as `attributes.title`.',
  })
  field?: string;

  @TimeParam({ description: 'Only events at or after this time, such as 2026-01-31T12:00:00Z.' })
  since?: string;

  @TimeParam({ description: 'Only events before this time.' })
  until?: string;
}

export class AuditQuery extends AuditFilter {
  @LimitParam()
  limit: number = 25;

  @AfterParam()
  after?: string;
}
