import { useState } from 'preact/hooks';
import { label, shown } from '../../lib/text.js';
import { Dialog } from '../../parts/dialog.js';
import { Table } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import type { Conflict, Value } from './draft.js';

interface ConflictProps {
  conflicts: readonly Conflict[];
  /** When the other one saved. */
  at: string;
  /** @param keep the fields in which this operator's value wins. */
  onKeep: (keep: string[]) => void;
  onDiscard: () => void;
  onClose: () => void;
}

/** What somebody else has saved since the form was opened, beside what stands in the form. */
export function ConflictDialog({ conflicts, at, onKeep, onDiscard, onClose }: ConflictProps) {
  const [mine, setMine] = useState<string[]>([]);
  const choose = (field: string, isMine: boolean): void => {
    setMine((current) => [...current.filter((each) => each !== field), ...(isMine ? [field] : [])]);
  };
  return (
    <Dialog title="Somebody else has changed this user" onClose={onClose} isWide>
      <div class="stack">
        <p>
          It was saved <Time at={at} />, after you opened the form. Nothing of yours is saved yet. Their
          changes stay, unless you choose your own value.
        </p>
        <Table
          caption="What has changed"
          keyOf={({ field }) => field}
          rows={conflicts}
          empty="Only what this form does not show has changed."
          columns={[
            { name: 'field', title: 'Field', cell: ({ field }) => label(field) },
            { name: 'before', title: 'When you opened it', cell: ({ before }) => <Shown value={before} /> },
            {
              name: 'theirs',
              title: 'Now',
              cell: ({ field, theirs, isBoth }) =>
                isBoth ? (
                  <Option
                    field={field}
                    value={theirs}
                    isChosen={!mine.includes(field)}
                    onChoose={() => {
                      choose(field, false);
                    }}
                  />
                ) : (
                  <Shown value={theirs} />
                ),
            },
            {
              name: 'mine',
              title: 'Yours',
              cell: ({ field, mine: own, isBoth }) =>
                isBoth ? (
                  <Option
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
            Go on with my changes
          </button>
        </div>
      </div>
    </Dialog>
  );
}

const Shown = ({ value }: { value: Value | undefined }) =>
  shown(value) === '' ? <span class="none">empty</span> : <span>{shown(value)}</span>;

function Option(props: { field: string; value: Value | undefined; isChosen: boolean; onChoose: () => void }) {
  const { field, value, isChosen, onChoose } = props;
  return (
    <label class="check">
      <input type="radio" name={`conflict-${field}`} checked={isChosen} onChange={onChoose} />
      <Shown value={value} />
    </label>
  );
}
