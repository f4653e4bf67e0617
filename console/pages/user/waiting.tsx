import type { Row, Run, User } from '../../api/client.js';
import { useResource } from '../../api/resource.js';
import { href } from '../../lib/place.js';
import { ChangeLines } from '../../parts/change.js';
import { Icon } from '../../parts/icon.js';
import { WAITING, changesOf, loadRowsOf, loadRuns, titleOf } from '../import/runs.js';

interface Waiting {
  run: Run;
  row: Row;
}

/** Loads the changes of a user in imports that wait for a decision. */
async function load(externalId: string, signal: AbortSignal): Promise<Waiting[]> {
  const { runs } = await loadRuns(new URLSearchParams({ state: WAITING }), signal);
  const found = runs.map(async (run) => {
    const row = (await loadRowsOf(run.id, [externalId], signal)).get(externalId);
    return row && row.changes.length > 0 ? [{ run, row }] : [];
  });
  return (await Promise.all(found)).flat();
}

/** Warns that imports waiting for a decision would change the user. */
export function WaitingChanges({ user: { external_id: externalId, updated } }: { user: User }) {
  const { data = [] } = useResource(externalId ? `${externalId} ${updated}` : undefined, (signal) =>
    load(externalId, signal),
  );
  return (
    <>
      {data.map(({ run, row }) => (
        <div key={run.id} class="note">
          <Icon name="imports" />
          <div>
            <p>
              <a href={href(`/imports/${run.id}`, { person: externalId })}>{titleOf(run)}</a> waits for a
              decision. It would change this user:
            </p>
            <dl class="diff">
              <ChangeLines changes={changesOf(row)} />
            </dl>
          </div>
        </div>
      ))}
    </>
  );
}
