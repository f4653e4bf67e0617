import { AfterParam, LimitParam } from '../platform/http/page.js';
import {
  ChoiceParam,
  ChoicesParam,
  PatternParam,
  TimeParam,
  UuidParam,
} from '../platform/input/query-rules.js';
import { ACTIONS, ACTOR_KINDS, type AuditAction } from './audit-event.js';

/** Filters of the audit; the same for the list and the file. */
export class AuditFilter {
  @UuidParam({
    description:
      'Who did it: id of a user, an API key or an import. The rows of an import are also those of who started or approved it.',
  })
  actor?: string;

  @ChoiceParam(ACTOR_KINDS)
  actor_kind?: string;

  @ChoicesParam(ACTIONS, { description: 'May be repeated (or).' })
  action?: AuditAction[];

  @UuidParam({ description: 'What it was done to: id of a user, session, API key or import.' })
  target?: string;

  @PatternParam(/^[a-z_]{1,64}(\.\w{1,64})?$/, 'must be the name of a field', {
    example: 'email',
    maxLength: 129,
    description: 'A field that was changed; an attribute as `attributes.title`.',
  })
  field?: string;

  @TimeParam({ description: 'At this time or later, such as 2026-01-31T12:00:00Z.' })
  since?: string;

  @TimeParam({ description: 'Before this time.' })
  until?: string;
}

/** A page of the audit. */
export class AuditQuery extends AuditFilter {
  @LimitParam()
  limit: number = 25;

  @AfterParam()
  after?: string;
}
