import { Injectable } from '@nestjs/common';
import type { AuditChange, AuditRecord, Party } from '../audit/audit-event.js';
import type { NameOf } from '../audit/audit-names.service.js';
import { AuditService } from '../audit/audit.service.js';
import { truncated } from '../platform/common/text.js';

/** Characters of a value that a sentence quotes. */
const MAX_VALUE = 60;

const DONE: Readonly<Record<string, string>> = {
  'user.created': 'created the user',
  'user.updated': 'changed the user',
  'user.blocked': 'blocked the user',
  'user.reactivated': 'reactivated the user',
  'user.deleted': 'deleted the user',
  'user.restored': 'restored the user',
};

/** An event of a user with the name of its actor, and a sentence for people. */
interface HistoryEvent {
  event: AuditRecord;
  actorName: string;
  summary: string;
}

/** A page of events. `next` is the cursor of the following one. */
export interface HistoryPage {
  count: number;
  exact: boolean;
  events: HistoryEvent[];
  nameOf: NameOf;
  next: string | undefined;
}

/** The history of a user, as people read it. */
@Injectable()
export class UserHistory {
  constructor(private readonly audit: AuditService) {}

  /** Newest first, after the event with the id `after`. */
  async page(uuid: string, after: string | undefined, limit: number): Promise<HistoryPage> {
    const { records, nameOf, last } = await this.audit.page({ target: uuid }, after, limit);
    const events = records.map((event) => {
      const name = actorName(event.actor, nameOf);
      return { event, actorName: name, summary: summary(event, name) };
    });
    return { ...(await this.audit.count({ target: uuid })), events, nameOf, next: last };
  }
}

/** `import staff.csv (started by jane, approved by joe)`; the kind of an actor without a name. */
function actorName({ started_by, approved_by, ...actor }: AuditRecord['actor'], nameOf: NameOf): string {
  const name = (party: Party): string => {
    const known = nameOf(party);
    if (party.kind === 'import') return `import ${known || (party.id ?? '')}`;
    if (known === '') return party.kind;
    return party.kind === 'key' ? `API key "${known}"` : known;
  };
  const people = [
    ...(started_by ? [`started by ${name(started_by)}`] : []),
    ...(approved_by ? [`approved by ${name(approved_by)}`] : []),
  ];
  return people.length === 0 ? name(actor) : `${name(actor)} (${people.join(', ')})`;
}

/** `jane blocked the user: status from "Active" to "Blocked"` */
function summary({ action, changes, reason }: AuditRecord, actor: string): string {
  const done = DONE[action] ?? action;
  const differences = changes.map(difference).join('; ');
  const why = reason === '' ? '' : `. Reason: ${reason}`;
  return `${actor} ${done}${differences === '' ? '' : `: ${differences}`}${why}`;
}

function difference({ field, old, new: value }: AuditChange): string {
  if (old === undefined && value === undefined) return `${field} changed`;
  if (isEmpty(old)) return `${field} set to ${quoted(value)}`;
  return isEmpty(value)
    ? `${field} cleared, was ${quoted(old)}`
    : `${field} from ${quoted(old)} to ${quoted(value)}`;
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || JSON.stringify(value) === '{}';

function quoted(value: unknown): string {
  const text = JSON.stringify(value);
  return truncated(text, MAX_VALUE);
}
