import type { FinalState } from '../final-state.js';
import type { Violation, History } from '../history.js';

/** Checks that a 503 `unavailable` had no effect, and that there was no 500. */
export function checkResponses(history: History, final: FinalState): Violation[] {
  const broken: Violation[] = [];
  const add = (promise: string, text: string): void => void broken.push({ promise, text });
  const written = Map.groupBy(final.audit, ({ request_id }) => request_id);
  for (const { id, instance, status, code, begin } of history.attempts) {
    if (status >= 500 && code !== 'unavailable' && code !== 'outcome_unknown')
      add(
        'responses',
        `${id}: instance ${instance} responded with ${status} ${code} at ${Math.round(begin)} ms`,
      );
    const rows = written.get(id) ?? [];
    if (code === 'unavailable' && rows.length > 0)
      add(
        'unavailable means that nothing happened',
        `${id} (instance ${instance}): 503 unavailable, but ${rows.map(({ action }) => action).join(', ')} was written`,
      );
  }
  return broken;
}

/** Checks that a creation with a unique name and an `Idempotency-Key` is never refused when it is repeated. */
export function checkRetries(history: History, final: FinalState): Violation[] {
  const broken: Violation[] = [];
  const add = (text: string): void => void broken.push({ promise: 'retried keys', text });
  const names = Map.groupBy(final.seen[0]?.users ?? [], ({ fields }) =>
    String(fields['username']).toLowerCase(),
  );
  const given = new Set(history.filter('change').map(({ fields }) => fields['username']));
  for (const { call, fields, user } of history.filter('create')) {
    const last = call.attempts.at(-1);
    if (given.has(fields['username'])) continue; // other users may have the name by now
    const own = names.get(String(fields['username']).toLowerCase()) ?? [];
    const taken = last?.status === 409 && last.code !== 'external_id_taken';
    const text = call.attempts.map(({ id, status, code }) => `${id}: ${status} ${code}`).join(', ');
    if (call.keyed && taken) add(`${text}: its own first attempt caused the refusal`);
    if (own.length > 1) add(`${text}: created ${own.length} users`);
    if (user !== '' && own[0] && own[0].uuid !== user)
      add(`${text}: returned ${user}, but the user is ${own[0].uuid}`);
  }
  for (const { call, name } of history.filter('issue')) {
    const count = final.keys.filter((key) => key === name).length;
    if (name !== '' && (count > 1 || (count === 0 && call.effect === 'done')))
      add(`${count} API keys are named ${name}`);
  }
  return broken;
}
