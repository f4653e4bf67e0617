import { useState } from 'preact/hooks';
import { getLabel, formatValue } from '../../lib/text.js';
import { Dialog } from '../../parts/dialog.js';
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
  const choose = (field: string, isMine: boolean): void => {
    setMine((current) => [...current.filter((each) => each !== field), ...(isMine ? [field] : [])]);
  };
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
            { name: 'field', title: 'Field', cell: ({ field }) => getLabel(field) },
            { name: 'before', title: 'Before', cell: ({ before }) => <DisplayedValue value={before} /> },
            {
              name: 'theirs',
              title: 'Now',
              cell: ({ field, theirs, isBoth }) =>
                isBoth ? (
                  <ValueOption
                    field={field}
                    value={theirs}
                    isChosen={!mine.includes(field)}
                    onChoose={() => {
                      choose(field, false);
                    }}
                  />
                ) : (
                  <DisplayedValue value={theirs} />
                ),
            },
            {
              name: 'mine',
              title: 'Yours',
              cell: ({ field, mine: own, isBoth }) =>
                isBoth ? (
                  <ValueOption
                    field={field}
                    value={own}
                    isChosen={mine.includes(field)}
                    onChoose={() => {
                      choose(field, true);
                    }}
                  />
                ) : (
                  <span class="muted">unchanged</span>
                ),
            },
          ]}
        />
        <div class="buttons end">
          <button type="button" onClick={onDiscard}>
            Discard my changes
          </button>
          <button
            type="button"
            class="primary"
            onClick={() => {
              onKeep(mine);
            }}
          >
            Continue editing
          </button>
        </div>
      </div>
    </Dialog>
  );
}

const DisplayedValue = ({ value }: { value: Value | undefined }) =>
  formatValue(value) === '' ? <span class="none">empty</span> : <span>{formatValue(value)}</span>;

function ValueOption(props: {
  field: string;
  value: Value | undefined;
  isChosen: boolean;
  onChoose: () => void;
}) {
  const { field, value, isChosen, onChoose } = props;
  return (
    <label class="check">
      <input type="radio" name={`conflict-${field}`} checked={isChosen} onChange={onChoose} />
      <DisplayedValue value={value} />
    </label>
  );
}
