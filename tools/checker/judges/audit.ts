import type { AuditRow, FinalState } from '../final-state.js';
import type { Broken, Call, Change, Create, History, Upload } from '../history.js';
import { type Timelines, sentRequests } from '../timeline.js';
import { same } from '../world.js';

const PROMISE = 'audit';

/**
 * Each acknowledged change has exactly one audit row, with the right fields and values; a refused one has none, one without
 * an outcome at most one. Retries under one `Idempotency-Key` count as one request.
 */
export function judgeAudit(history: History, final: FinalState, { users }: Timelines): Broken[] {
  const broken: Broken[] = [];
  const add = (text: string): void => void broken.push({ promise: PROMISE, text });
  const rows = Map.groupBy(final.audit, ({ request_id }) => request_id);
  const rowsOf = ({ attempts }: Call, kind: string): AuditRow[] =>
    attempts.flatMap(({ id }) => rows.get(id) ?? []).filter(({ target }) => target.kind === kind);

  for (const entry of [...history.of('create'), ...history.of('change')]) {
    const own = rowsOf(entry.call, 'user');
    const name = nameOf(entry.call);
    if (own.length > 1) add(`${name} has ${own.length} audit rows`);
    if (entry.call.effect === 'none' && own.length > 0) add(`${name} was refused, but has an audit row`);
    for (const row of own) for (const text of wrong(entry, row)) add(`${name}: ${text}`);
    if (entry.call.effect === 'done' && own.length === 0 && !wasSo(entry, users))
      add(`${name} was acknowledged, but has no audit row`);
  }
  for (const entry of [...history.of('issue'), ...history.of('end')]) {
    if (entry.kind === 'end' && entry.credential === undefined) continue;
    const made =
      entry.kind === 'issue' ? ['session.created', 'api_key.created'] : ['session.ended', 'api_key.revoked'];
    const kinds = ['session', 'api_key'].flatMap((kind) => rowsOf(entry.call, kind));
    const own = kinds.filter(({ action }) => made.includes(action));
    const name = nameOf(entry.call);
    if (own.length > 1) add(`${name} has ${own.length} audit rows`);
    if (entry.call.effect === 'none' && own.length > 0) add(`${name} was refused, but has an audit row`);
    if (entry.call.effect === 'done' && own.length === 0)
      add(`${name} was acknowledged, but has no audit row`);
  }
  for (const upload of history.of('upload')) uploads(upload, rowsOf(upload.call, 'user'), final, add);

  const sent = sentRequests(history);
  for (const { id, request_id, actor, target } of final.audit) {
    if (target.kind === 'user' && actor.kind !== 'system' && !sent.has(request_id))
      add(`row ${id} is of a request that nobody sent (${request_id})`);
  }
  return broken;
}

const nameOf = ({ method, path, attempts }: Call): string =>
  `${method} ${path} (${attempts.map(({ id, status, code }) => `${id}: ${status} ${code}`.trim()).join(', ')})`;

/** What an audit row says beside the request that it is of. */
function wrong(entry: Create | Change, { action, changes, target }: AuditRow): string[] {
  const texts: string[] = [];
  if ((action === 'user.created') !== (entry.kind === 'create')) texts.push(`its row is ${action}`);
  if (entry.user !== '' && target.id !== entry.user) texts.push(`its row is of user ${target.id}`);
  const defaults = entry.kind === 'create' ? ['roles', 'status'] : [];
  for (const change of changes) {
    if (change.field === 'password') continue;
    if (!(change.field in entry.fields)) {
      if (!defaults.includes(change.field)) texts.push(`its row names ${change.field}`);
    } else if (!same(change.new, entry.fields[change.field])) {
      texts.push(`its row says that ${change.field} became ${JSON.stringify(change.new)}`);
    }
    const seen = entry.kind === 'change' ? entry.seen?.fields : undefined;
    if (seen && !same(change.old, seen[change.field]))
      texts.push(
        `its If-Match was of ${JSON.stringify(seen[change.field])}, not ${JSON.stringify(change.old)}`,
      );
  }
  return texts;
}

/** Whether the user may have been like that already, so that nothing changed. */
function wasSo({ kind, user, fields, call }: Create | Change, users: Timelines['users']): boolean {
  if (kind === 'create') return false;
  const own = users.get(user);
  return Object.entries(fields).every(([field, value]) =>
    own
      ?.get(field)
      ?.during(call.begin, call.end)
      .some((one) => same(one, value)),
  );
}

function uploads(
  { call, completed, file, fresh, changed, rows }: Upload,
  own: readonly AuditRow[],
  final: FinalState,
  add: (text: string) => void,
): void {
  const state = final.runs.filter((run) => run.file === file);
  if (state.length > 1) add(`the file ${file} was sent once and has ${state.length} runs`);
  if (call.effect === 'done' && state.length === 0) add(`the run of ${file} was acknowledged and is gone`);
  if (call.effect === 'none' && state.length > 0) add(`the upload of ${file} was refused, but has a run`);
  const ended = state[0]?.state === 'completed';
  if (completed !== Infinity && !ended)
    add(`the run of ${file} was completed, and now is ${state[0]?.state}`);
  const ids = new Map(final.seen[0]?.users.map(({ uuid, fields }) => [uuid, String(fields['external_id'])]));
  const written = Map.groupBy(own, ({ target }) => ids.get(target.id));
  for (const [external, list] of written) {
    if (external === undefined || !rows.has(external)) add(`${file} changed a user that it does not name`);
    if (list.length > 1) add(`${file} changed ${external} in ${list.length} audit rows`);
  }
  if (!ended) return;
  for (const external of [...fresh, ...changed])
    if (!written.has(external)) add(`${file} is completed, but has no audit row for ${external}`);
}
