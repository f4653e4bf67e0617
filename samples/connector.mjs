// A connector: copies the people of a JSON file to Rollcall and blocks users who have left. See docs/connectors.md.
//   API=http://127.0.0.1:3000/api/0.3 KEY=<API key> node samples/connector.mjs samples/people.json
// The file is a complete list of people with field names of the API. Users with an external_id who are not in the file
// are blocked. Exit codes: 0 success, 1 a person was refused or the run failed.
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const { API = 'http://127.0.0.1:3000/api/0.3', KEY = '' } = process.env;

/**
 * Sends a request and retries it while the network or the service is unavailable. With its Idempotency-Key it takes
 * effect once.
 */
async function call(method, path, fields) {
  const once = { 'Idempotency-Key': randomUUID() };
  const headers = { 'X-API-Key': KEY, 'Content-Type': 'application/json', ...once };
  for (let attempt = 1; ; attempt++) {
    const request = { method, headers, body: JSON.stringify(fields), signal: AbortSignal.timeout(30_000) };
    const response = await fetch(new URL(path, `${API}/`), request).catch((error) => ({ error }));
    const body = await response.json?.().catch(() => undefined);
    if (response.ok && body) return { ...body, next: /<(.+)>/.exec(response.headers.get('Link'))?.[1] };
    const isUnavailable = !body || response.status === 429 || response.status >= 500;
    if (!isUnavailable || attempt === 5)
      throw Object.assign(response.error ?? new Error(body?.detail ?? `status ${response.status}`), body);
    await sleep(1000 * (Number(response.headers?.get('Retry-After')) || 2 ** attempt));
  }
}

/** Finds a person and creates or updates the user. @returns the outcome. */
async function upsert(person) {
  const query = new URLSearchParams({ external_id: person.external_id ?? '' }); // an empty external_id is refused
  let [user] = (await call('GET', `users/search?${query}`)).Results;
  if (!user) {
    const result = await call('POST', 'users', person).catch((error) => error);
    if (result.uuid) return 'created';
    const taken = result.conflicts?.find(({ field }) => field === 'external_id');
    if (!taken) throw result; // another user has the username or e-mail: a person must decide
    user = await call('GET', `users/${taken.uuid}`); // another run created the user in the meantime
  }
  const isSame = (field) => JSON.stringify(user[field]) === JSON.stringify(person[field]);
  if (Object.keys(person).every(isSame)) return 'unchanged';
  return (await call('PUT', `users/${user.uuid}`, person)).updated === user.updated ? 'unchanged' : 'updated';
}

const counts = { created: 0, updated: 0, unchanged: 0, blocked: 0, refused: 0 };
const people = JSON.parse(await readFile(process.argv[2], 'utf8'));
for (const person of people) {
  const outcome = await upsert({ status: 'Active', ...person }).catch((error) => {
    if (![400, 409, 422].includes(error.status)) throw error; // such as an outage or an invalid key
    console.error(`${person.external_id}: ${error.message}`);
    return 'refused';
  });
  counts[outcome]++;
}

const known = new Set(people.map(({ external_id }) => external_id));
const leavers = [];
let page = { next: 'users/search?has_external_id=true&status=Active&sort=created&order=asc&limit=100' };
while (page.next) {
  page = await call('GET', page.next);
  leavers.push(...page.Results.filter(({ external_id }) => !known.has(external_id)));
}
if (leavers.length > Math.max(5, people.length / 10))
  throw new Error(`${leavers.length} users are missing from the file: is it complete?`);
for (const { uuid } of leavers) await call('PUT', `users/${uuid}`, { status: 'Blocked' });
console.log({ ...counts, blocked: leavers.length });
process.exitCode = counts.refused > 0 ? 1 : 0;
