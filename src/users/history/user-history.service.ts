import { Injectable } from '@nestjs/common';
import { ApiKeysService } from '../../api-keys/api-keys.service.js';
import type { AuditChange, AuditRecord, Party } from '../../audit/audit-event.js';
import { AuditService } from '../../audit/audit.service.js';
import { truncated } from '../../common/text.js';
import { UserDirectory } from '../directory/user-directory.service.js';

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
export interface HistoryEvent {
  event: AuditRecord;
  actorName: string;
  summary: string;
}

/** The history of a user, as people read it. */
@Injectable()
export class UserHistory {
  constructor(
    private readonly audit: AuditService,
    private readonly keys: ApiKeysService,
    private readonly users: UserDirectory,
  ) {}

  /** Newest first, after the event with the id `after`. `next` is the cursor of the following page. */
  async page(
    uuid: string,
    after: string | undefined,
    limit: number,
  ): Promise<{ count: number; exact: boolean; events: HistoryEvent[]; next: string | undefined }> {
    const { records, last } = await this.audit.page({ target: uuid }, after, limit);
    const names = await this.names(records);
    const events = records.map((event) => {
      const actorName = nameOf(event.actor, names);
      return { event, actorName, summary: summary(event, actorName) };
    });
    return { ...(await this.audit.count({ target: uuid })), events, next: last };
  }

  /** Id of an actor → its name for people. */
  private async names(records: readonly AuditRecord[]): Promise<Map<string, string>> {
    const of = (kind: string) =>
      records.flatMap(({ actor }) =>
        [actor, actor.started_by, actor.approved_by].flatMap((party) =>
          party?.kind === kind ? (party.id ?? []) : [],
        ),
      );
    const users = await this.users.byUuids(of('user'));
    const keys = of('key').length > 0 ? await this.keys.list() : [];
    return new Map([
      ...[...users].map(([uuid, { username }]): [string, string] => [uuid, username]),
      ...keys.map(({ id, name }): [string, string] => [id, `API key "${name}"`]),
      ...of('import').map((id): [string, string] => [id, `import ${id}`]),
    ]);
  }
}

/** `import 0198… (started by jane, approved by joe)`; the kind of an actor without a name. */
function nameOf(
  { started_by, approved_by, ...actor }: AuditRecord['actor'],
  names: ReadonlyMap<string, string>,
): string {
  const name = ({ kind, id }: Party): string => names.get(id ?? '') ?? kind;
  const people = [
    ...(started_by ? [`started by ${name(started_by)}`] : []),
    ...(approved_by ? [`approved by ${name(approved_by)}`] : []),
  ];
  return people.length === 0 ? name(actor) : `${name(actor)} (${people.join(', ')})`;
}

/** `jane blocked the user: status from "Active" to "Blocked"` */
function summary({ action, changes }: AuditRecord, actor: string): string {
  const done = DONE[action] ?? action;
  const differences = changes.map(difference).join('; ');
  return `${actor} ${done}${differences === '' ? '' : `: ${differences}`}`;
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
