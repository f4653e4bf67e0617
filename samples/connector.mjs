// A connector: brings the people of a JSON file to Rollcall and blocks those who left. docs/connectors.md tells why.
//   API=http://127.0.0.1:3000/api/0.3 KEY=<API key> node samples/connector.mjs samples/people.json
// The file is a list of objects with field names of the API, the whole source: who has an external_id and is not
// in it is blocked. Exit codes: 0 all done, 1 somebody was refused, or the run broke off with an error.
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const { API = 'http://127.0.0.1:3000/api/0.3', KEY = '' } = process.env;

/** One request, repeated while network or service are away: with its key it takes effect once. */
async function call(method, path, fields) {
  const once = { 'Idempotency-Key': randomUUID() };
  const headers = { 'X-API-Key': KEY, 'Content-Type': 'application/json', ...once };
  for (let attempt = 1; ; attempt++) {
    const request = { method, headers, body: JSON.stringify(fields), signal: AbortSignal.timeout(30_000) };
    const answer = await fetch(new URL(path, `${API}/`), request).catch((error) => ({ error }));
    const body = await answer.json?.().catch(() => undefined);
    if (answer.ok && body) return { ...body, next: /<(.+)>/.exec(answer.headers.get('Link'))?.[1] };
    const away = !body || answer.status === 429 || answer.status >= 500;
    if (!away || attempt === 5)
      throw Object.assign(answer.error ?? new Error(body?.detail ?? `status ${answer.status}`), body);
    await sleep(1000 * (Number(answer.headers?.get('Retry-After')) || 2 ** attempt));
  }
}

/** Looks one person up, creates or updates them. @returns what was done. */
async function bring(person) {
  const query = new URLSearchParams({ external_id: person.external_id ?? '' }); // an empty one is refused
  let [user] = (await call('GET', `users/search?${query}`)).Results;
  if (!user) {
    const answer = await call('POST', 'users', person).catch((error) => error);
    if (answer.uuid) return 'created';
    const taken = answer.conflicts?.find(({ field }) => field === 'external_id');
    if (!taken) throw answer; // the username or e-mail belongs to somebody else: a person decides that
    user = await call('GET', `users/${taken.uuid}`); // made by another run in the meantime
  }
  const same = (field) => JSON.stringify(user[field]) === JSON.stringify(person[field]);
  if (Object.keys(person).every(same)) return 'unchanged';
  return (await call('PUT', `users/${user.uuid}`, person)).updated === user.updated ? 'unchanged' : 'updated';
}

const counts = { created: 0, updated: 0, unchanged: 0, blocked: 0, refused: 0 };
const people = JSON.parse(await readFile(process.argv[2], 'utf8'));
for (const person of people) {
  const outcome = await bring({ status: 'Active', ...person }).catch((error) => {
    if (![400, 409, 422].includes(error.status)) throw error; // not about this person: away, or a bad key
    console.error(`${person.external_id}: ${error.message}`);
    return 'refused';
  });
  counts[outcome]++;
}

const named = new Set(people.map(({ external_id }) => external_id));
const leavers = [];
let page = { next: 'users/search?has_external_id=true&status=Active&sort=created&order=asc&limit=100' };
while (page.next) {
  page = await call('GET', page.next);
  leavers.push(...page.Results.filter(({ external_id }) => !named.has(external_id)));
}
if (leavers.length > Math.max(5, people.length / 10))
  throw new Error(`${leavers.length} left: is the file whole?`);
for (const { uuid } of leavers) await call('PUT', `users/${uuid}`, { status: 'Blocked' });
console.log({ ...counts, blocked: leavers.length });
process.exitCode = counts.refused > 0 ? 1 : 0;
