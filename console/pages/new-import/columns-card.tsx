import { useEffect, useState } from 'preact/hooks';
import { useAction } from '../../api/resource.js';
import type { Options, Preview } from '../../api/upload.js';
import { COLUMNS, IGNORE } from '../../lib/columns.js';
import { useUnsavedWarning } from '../../lib/unsaved.js';
import { TextField } from '../../parts/field.js';
import { Card } from '../../parts/page.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { Table } from '../../parts/table.js';
import { showToast } from '../../parts/toast.js';
import { type Mapping, type Profile, hasChanges, toMapping, saveProfile } from '../profiles/profiles.js';

type Column = Preview['columns'][number];

interface ColumnsProps {
  file: File;
  preview: Preview;
  options: Options;
  base: Profile | undefined;
  /** Called with the name of the saved profile. */
  onSaved: (name: string) => void;
}

const CHOICES = [...COLUMNS.map((name) => ({ value: name, text: name })), { value: IGNORE, text: 'Ignore' }];

/** Assigns the columns of the file to import columns. Changed assignments are saved as a profile. */
export function ColumnsCard({ file, preview, options, base, onSaved }: ColumnsProps) {
  const [mapping, setMapping] = useState<Mapping>(() => toMapping(preview));
  const [name, setName] = useState(base && !base.ready ? base.name : suggestProfileName(file));
  const action = useAction();
  useUnsavedWarning(hasChanges(mapping, preview));
  useEffect(() => {
    setMapping(toMapping(preview));
  }, [preview]);
  const save = (): Promise<boolean> =>
    action.run(async () => {
      const { dataset = '', delimiter = '', encoding = '' } = options;
      await saveProfile(name, mapping, base, { dataset, delimiter, encoding });
      showToast(`Profile ${name} saved.`);
      onSaved(name);
    });
  return (
    <Card title="Columns">
      <Table
        caption="Columns of the file"
        rows={preview.columns}
        getKey={({ source }) => source}
        columns={[
          { name: 'source', title: 'Column in the file', cell: ({ source }) => <code>{source}</code> },
          {
            name: 'column',
            title: 'Import as',
            cell: (column) => (
              <ColumnChoice
                column={column}
                value={mapping[column.source] ?? IGNORE}
                onValue={(value) => {
                  setMapping({ ...mapping, [column.source]: value });
                }}
              />
            ),
          },
          { name: 'note', title: 'Note', cell: (column) => <span class="muted">{getNote(column)}</span> },
        ]}
      />
      {hasChanges(mapping, preview) && (
        <form
          class="toolbar"
          onSubmit={(event) => {
            event.preventDefault();
            void save();
          }}
        >
          <TextField
            name="profile_name"
            label="Save as profile"
            value={name}
            onValue={setName}
            input={{ required: true, maxLength: 64 }}
          />
          <button type="submit" class="primary" aria-disabled={action.isBusy}>
            Save profile and refresh preview
          </button>
        </form>
      )}
      <ProblemNote problem={action.problem} />
    </Card>
  );
}

function ColumnChoice({
  column,
  value,
  onValue,
}: {
  column: Column;
  value: string;
  onValue: (value: string) => void;
}) {
  if (column.use === 'template') return <>Used by templates</>;
  return (
    <select
      aria-label={`Import ${column.source} as`}
      value={value}
      onChange={(event) => {
        onValue(event.currentTarget.value);
      }}
    >
      {CHOICES.map((choice) => (
        <option key={choice.value} value={choice.value}>
          {choice.text}
        </option>
      ))}
    </select>
  );
}

function getNote({ use, suggestion }: Column): string {
  if (use !== 'unknown') return '';
  return suggestion === null || suggestion === IGNORE
    ? 'Unknown column, ignored'
    : 'Suggested by the column name';
}

/** Suggests a valid profile name for a file: `payroll-2026` for `payroll-2026.csv`. */
function suggestProfileName({ name }: File): string {
  const bare = name
    .replace(/\.\w+$/, '')
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[.-]+|-+$/g, '');
  return bare.slice(0, 64) || 'profile';
}
