import { setTimeout as delay } from 'node:timers/promises';
import type { Fields, Upload } from '../history.js';
import { type ClientContext, API, isDone } from '../world.js';
import type { Step } from './users.js';

/** Numbers of new rows in a file. Most files are small, and some take long enough to be interrupted. */
const SIZES = [60, 60, 60, 600];
/** Number of changed rows in a file, so few that no guard is hit. */
const CHANGED = 3;
const WAIT = 30_000;
export const ENDED =
  'completed completed_with_errors failed cancelled rejected superseded needs_approval'.split(' ');

/** Uploads a file from time to time: the rows of the last file, three of them changed, and some new rows. */
export const createImporter = (world: ClientContext): Step => {
  let last: Upload | undefined;
  let rows = new Map<string, Fields>();
  let dataset = world.createToken();
  return async () => {
    await delay(500 + world.random(2000));
    if (last && (last.completed === Infinity || !isDone(last.call))) {
      // The effect of the last file is unknown, so the next file has other users.
      rows = new Map();
      dataset = world.createToken();
    }
    const changed = [...rows.keys()].slice(0, CHANGED);
    const next = new Map(rows);
    for (const id of changed) next.set(id, { ...next.get(id), phone: world.createToken() });
    const fresh: string[] = [];
    const size = world.pick(SIZES);
    for (let row = 0; row < size; row++) {
      const token = world.createToken();
      fresh.push(`I-${token}`);
      next.set(`I-${token}`, { username: token, email: `${token}@example.org`, phone: `p${token}` });
    }
    const file = `${world.createToken()}.csv`;
    const path = `${API}/imports?dataset=${dataset}`;
    const headers = { 'content-type': 'text/csv', 'x-file-name': file };
    const { answer, call } = await world.call({ method: 'POST', path, body: toCsv(next), headers });
    const upload = { kind: 'upload' as const, call, file, rows: next, fresh, changed, completed: Infinity };
    last = world.history.add(upload);
    if (!isDone(call)) return;
    rows = next;
    await waitForRun(world, String(answer.body['id']), last);
  };
};

async function waitForRun(world: ClientContext, run: string, upload: Upload): Promise<void> {
  const until = performance.now() + WAIT;
  while (performance.now() < until && !world.sender.isEnding) {
    await delay(100);
    const [{ status, body }, { end }] = await world.send({ method: 'GET', path: `${API}/imports/${run}` });
    if (status !== 200 || !ENDED.includes(String(body['state']))) continue;
    if (body['state'] === 'completed') upload.completed = end;
    return;
  }
}

function toCsv(rows: ReadonlyMap<string, Fields>): string {
  const lines = [...rows].map(([id, { username, email, phone }]) => [id, username, email, phone].join(','));
  return ['ExternalId,Username,Email,Phone', ...lines, ''].join('\n');
}
