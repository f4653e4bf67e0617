import { useState } from 'preact/hooks';
import { getLabel } from '../../lib/text.js';
import { Button } from '../../parts/button.js';
import { ChangedValue } from '../../parts/change.js';
import { Dialog } from '../../parts/dialog.js';
import { toggle } from '../../parts/field.js';
import { Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import type { Conflict, Value } from './draft.js';

interface ConflictProps {
  conflicts: readonly Conflict[];
  /** Time of the other change. */
  at: string;
  /** @param keep fields in which the operator's own value is kept. */
  onKeep: (keep: string[]) => void;
  onDiscard: () => void;
  onClose: () => void;
}

/** Compares the changes that were saved since the form was opened with the values in the form. */
export function ConflictDialog({ conflicts, at, onKeep, onDiscard, onClose }: ConflictProps) {
  const [mine, setMine] = useState<string[]>([]);
  const showChoice = (field: string, value: Value | undefined, isMine: boolean) => (
    <label class="check">
      <input
        type="radio"
        name={`conflict-${field}`}
        checked={mine.includes(field) === isMine}
        onChange={() => setMine(toggle(mine, field, isMine))}
      />
      <ChangedValue value={value} />
    </label>
  );
  return (
    <Dialog title="Someone else has changed this user" onClose={onClose} isWide>
      <div class="stack">
        <p>
          The user was saved <Time at={at} />, after you opened the form. Your changes are not saved yet. For
          each field that you both changed, choose which value to keep.
        </p>
        <Table
          caption="Changed fields"
          getKey={({ field }) => field}
          rows={conflicts}
          empty="The only changes are in fields that are not shown in this form."
          columns={[
            { title: 'Field', cell: ({ field }) => getLabel(field) },
            { title: 'Before', cell: ({ before }) => <ChangedValue value={before} /> },
            {
              title: 'Now',
              cell: ({ field, theirs, isBoth }) =>
                isBoth ? showChoice(field, theirs, false) : <ChangedValue value={theirs} />,
            },
            {
              title: 'Yours',
              cell: ({ field, mine: own, isBoth }) =>
                isBoth ? showChoice(field, own, true) : <span class="muted">unchanged</span>,
            },
          ]}
        />
        <div class="buttons end">
          <Button text="Discard my changes" onClick={onDiscard} />
          <Button text="Continue editing" kind="primary" onClick={() => onKeep(mine)} />
        </div>
      </div>
    </Dialog>
  );
}
