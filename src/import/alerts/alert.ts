import { now, toIso, type DbTime } from '../../platform/common/time.js';
import { type ImportRun, missingOf } from '../runs/import-run.js';

/** What operators are told without asking: an import waits for a decision, or none has completed for too long. */
type AlertType = 'import.needs_approval' | 'import.overdue';

/** One alert. Its receiver knows a repetition by `id`. */
export interface Alert {
  id: string;
  type: AlertType;
  /** JSON without personal data: no name, no cell and no example of a guard. */
  body: string;
}

export function parkedAlert(run: ImportRun, baseUrl: string): Alert {
  const { id, dataset, part, counts, guards } = run;
  const hit = guards.filter((guard) => guard.hit).map(({ name, value, limit }) => ({ name, value, limit }));
  const data = {
    id,
    url: `${baseUrl}/api/0.3/imports/${id}`,
    dataset,
    part,
    file: run.file_name,
    counts,
    missing: missingOf(run),
    guards: hit,
  };
  return alert(id, 'import.needs_approval', data);
}

/** @param last when an import completed last; null for never. */
export function overdueAlert(hours: number, last: DbTime | null): Alert {
  const lastCompleted = last === null ? null : toIso(last);
  return alert(`overdue-${lastCompleted ?? 'never'}`, 'import.overdue', {
    hours,
    last_completed: lastCompleted,
  });
}

function alert(id: string, type: AlertType, data: object): Alert {
  return { id, type, body: JSON.stringify({ type, timestamp: toIso(now()), data }) };
}
