import type { AuditRow, FinalState } from '../final-state.js';
import type { Violation, Call, Change, Create, History, Upload } from '../history.js';
import { type Timelines, indexAttempts } from '../timeline.js';
import { isSame } from '../world.js';

const PROMISE = 'audit';

/**
 * Checks that each acknowledged change has exactly one audit row with the right fields and values. A refused change has
 * no row, and a change with unknown outcome at most one. Retries with one `Idempotency-Key` count as one request.
 */
export function checkAudit(history: History, final: FinalState, { users }: Timelines): Violation[] {
  const broken: Violation[] = [];
  const add = (text: string): void => void broken.push({ promise: PROMISE, text });
  const rows = Map.groupBy(final.audit, ({ request_id }) => request_id);
  const rowsOf = ({ attempts }: Call, kind: string): AuditRow[] =>
    attempts.flatMap(({ id }) => rows.get(id) ?? []).filter(({ target }) => target.kind === kind);
  const checkCount = (call: Call, count: number, mayBeMissing = false): void => {
    if (count > 1) add(`${nameOf(call)} has ${count} audit rows`);
    if (call.effect === 'none' && count > 0) add(`${nameOf(call)} was refused, but has an audit row`);
    if (call.effect === 'done' && count === 0 && !mayBeMissing)
      add(`${nameOf(call)} was acknowledged, but has no audit row`);
  };

  for (const entry of [...history.filter('create'), ...history.filter('change')]) {
    const own = rowsOf(entry.call, 'user');
    checkCount(entry.call, own.length, isUnchanged(entry, users));
    for (const row of own)
      for (const text of findDifferences(entry, row)) add(`${nameOf(entry.call)}: ${text}`);
  }
  for (const entry of [...history.filter('issue'), ...history.filter('end')]) {
    if (entry.kind === 'end' && entry.credential === undefined) continue;
    const actions =
      entry.kind === 'issue' ? ['session.created', 'api_key.created'] : ['session.ended', 'api_key.revoked'];
    const kinds = ['session', 'api_key'].flatMap((kind) => rowsOf(entry.call, kind));
    checkCount(entry.call, kinds.filter(({ action }) => actions.includes(action)).length);
  }
  for (const upload of history.filter('upload')) checkUpload(upload, rowsOf(upload.call, 'user'), final, add);

  const sent = indexAttempts(history);
  for (const { id, request_id, actor, target } of final.audit) {
    if (target.kind === 'user' && actor.kind !== 'system' && !sent.has(request_id))
      add(`row ${id} belongs to a request that no client sent (${request_id})`);
  }
  return broken;
}

const nameOf = ({ method, path, attempts }: Call): string =>
  `${method} ${path} (${attempts.map(({ id, status, code }) => `${id}: ${status} ${code}`.trim()).join(', ')})`;

/** Returns the differences between an audit row and its request. */
function findDifferences(entry: Create | Change, { action, changes, target }: AuditRow): string[] {
  const texts: string[] = [];
  if ((action === 'user.created') !== (entry.kind === 'create')) texts.push(`its row is ${action}`);
  if (entry.user !== '' && target.id !== entry.user) texts.push(`its row names user ${target.id}`);
  const defaults = entry.kind === 'create' ? ['roles', 'status'] : [];
  for (const change of changes) {
    if (change.field === 'password') continue;
    if (!(change.field in entry.fields)) {
      if (!defaults.includes(change.field)) texts.push(`its row names ${change.field}`);
    } else if (!isSame(change.new, entry.fields[change.field])) {
      texts.push(`according to its row, ${change.field} became ${JSON.stringify(change.new)}`);
    }
    const seen = entry.kind === 'change' ? entry.seen?.fields : undefined;
    if (seen && !isSame(change.old, seen[change.field]))
      texts.push(
        `its If-Match referred to ${JSON.stringify(seen[change.field])}, not ${JSON.stringify(change.old)}`,
      );
  }
  return texts;
}

/** Returns true if the user may already have had these values, so that nothing changed. */
function isUnchanged({ kind, user, fields, call }: Create | Change, users: Timelines['users']): boolean {
  if (kind === 'create') return false;
  const own = users.get(user);
  return Object.entries(fields).every(([field, value]) =>
    own
      ?.get(field)
      ?.valuesDuring(call.begin, call.end)
      .some((one) => isSame(one, value)),
  );
}

function checkUpload(
  { call, completed, file, fresh, changed, rows }: Upload,
  own: readonly AuditRow[],
  final: FinalState,
  add: (text: string) => void,
): void {
  const state = final.runs.filter((run) => run.file === file);
  if (state.length > 1) add(`the file ${file} was sent once and has ${state.length} runs`);
  if (call.effect === 'done' && state.length === 0) add(`the run of ${file} was acknowledged but is missing`);
  if (call.effect === 'none' && state.length > 0) add(`the upload of ${file} was refused, but has a run`);
  const ended = state[0]?.state === 'completed';
  if (completed !== Infinity && !ended) add(`the run of ${file} was completed but is now ${state[0]?.state}`);
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
