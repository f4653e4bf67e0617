import { COLUMNS, IGNORE, REQUIRED_COLUMNS } from '../../lib/columns.js';
import { Pick, Select, toChoices } from '../../parts/field.js';
import { Offer } from '../../parts/offer.js';
import { Table } from '../../parts/table.js';
import {
  type Editing,
  findKey,
  listFreeColumns,
  listSources,
  listUses,
  mapColumn,
  setTemplate,
} from './draft.js';
import { SettingFields } from './settings-fields.js';
import { TemplateBuilder } from './template-builder.js';
import { formatColumns } from './template.js';

/** Assigns source columns to import columns, and fills further import columns with texts or templates. */
export function ColumnsFields({ editing }: { editing: Editing }) {
  const { draft, preview, change } = editing;
  const suggested = preview?.suggested;
  const samplesOf = (source: string): string =>
    (preview?.columns.find((each) => each.source === source)?.samples ?? []).join(', ');
  return (
    <>
      <Table
        caption="Columns of the file"
        rows={listSources(editing)}
        getKey={(source) => source}
        empty="Drop a file to see its columns."
        columns={[
          { title: 'Column in the file', cell: (source) => <code>{source}</code> },
          { title: 'First cells', cell: (source) => <span class="muted">{samplesOf(source)}</span> },
          { title: 'Import as', cell: (source) => <Target source={source} editing={editing} /> },
          {
            title: 'Also as',
            cell: (source) => (
              <Pick
                label={`Also import ${source} as`}
                text={listUses(draft, source).join(', ') || '–'}
                choices={listFreeColumns(draft)}
                onPick={(column) => change(setTemplate(draft, column, formatColumns([source])))}
              />
            ),
          },
        ]}
      />
      {suggested && preview.columns.some(({ use }) => use === 'unknown') && (
        <Offer text="Add the missing columns as suggested" onPick={() => change(suggested)} />
      )}
      <SettingFields names={['ignore_unknown_columns']} editing={editing} />
      {Object.keys(draft.set ?? {})
        .filter((column) => !REQUIRED_COLUMNS.includes(column))
        .map((column) => (
          <TemplateBuilder key={column} column={column} editing={editing} />
        ))}
      <div class="buttons">
        <Pick
          label="Fill another field"
          text="Fill another field with a text or template…"
          choices={listFreeColumns(draft)}
          onPick={(column) => change(setTemplate(draft, column, ''))}
        />
      </div>
    </>
  );
}

/** Choice of the import column of a source column. The value '' removes the source column from the profile. */
function Target({ source, editing: { draft, change, getError } }: { source: string; editing: Editing }) {
  const key = findKey(draft.columns, source) ?? source;
  const uses = listUses(draft, source).join(', ');
  return (
    <Select
      label={`Import ${source} as`}
      value={draft.columns[key] ?? ''}
      error={getError(`columns.${key}`)}
      choices={[
        { value: '', text: uses ? `Used for: ${uses}` : 'Not listed' },
        ...toChoices(COLUMNS.map(([name]) => name)),
        { value: IGNORE, text: 'Ignore' },
      ]}
      onValue={(target) => change(mapColumn(draft, source, target))}
    />
  );
}
