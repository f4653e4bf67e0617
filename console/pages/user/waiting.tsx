import type { User } from '../../api/client.js';
import { useResource } from '../../api/resource.js';
import { toHref } from '../../lib/url.js';
import { ChangeList } from '../../parts/change.js';
import { Icon } from '../../parts/icon.js';
import { WAITING, getVisibleChanges, loadRow, loadRuns, getTitle } from '../import/runs.js';

/** Loads the changes of a user in imports that wait for a decision. */
async function loadWaitingChanges(externalId: string, signal: AbortSignal) {
  const { rows: runs } = await loadRuns(new URLSearchParams({ state: WAITING }), signal);
  const found = runs.map(async (run) => {
    const row = await loadRow(run.id, externalId, signal);
    return row && row.changes.length > 0 ? [{ run, row }] : [];
  });
  return (await Promise.all(found)).flat();
}

/** Warns that imports waiting for a decision would change the user. */
export function WaitingChanges({ user: { external_id: externalId, updated } }: { user: User }) {
  const { data = [] } = useResource(externalId ? `${externalId} ${updated}` : undefined, (signal) =>
    loadWaitingChanges(externalId, signal),
  );
  return (
    <>
      {data.map(({ run, row }) => (
        <div key={run.id} class="note">
          <Icon name="imports" />
          <div>
            <p>
              <a href={toHref(`/imports/${run.id}`, { person: externalId })}>{getTitle(run)}</a> is waiting
              for a decision. It would change this user:
            </p>
            <ChangeList changes={getVisibleChanges(row)} />
          </div>
        </div>
      ))}
    </>
  );
}
