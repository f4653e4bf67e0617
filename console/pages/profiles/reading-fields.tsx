import { formatCount } from '../../lib/text.js';
import { Offer } from '../../parts/offer.js';
import { Table } from '../../parts/table.js';
import { type Editing, SECTIONS } from './draft.js';
import { needsEncoding } from './issues.js';
import { SettingFields } from './settings-fields.js';

const SKIPPED = [
  ['skip_lines', 'above the header'],
  ['skip_last_lines', 'below the last row'],
] as const;

/** Settings for reading the bytes of the file as rows: offers of the service, the settings, and the first cells as they are read. */
export function ReadingFields({ editing }: { editing: Editing }) {
  const { draft, preview, change, changeReading } = editing;
  const { encodings = [], columns = [] } = preview ?? {};
  return (
    <>
      {encodings.map(({ encoding, cells }) => (
        <Offer
          key={encoding}
          text={`Read as ${encoding}`}
          example={cells.join(', ')}
          isChosen={draft.encoding === encoding}
          onPick={() => changeReading({ encoding })}
        />
      ))}
      {SKIPPED.map(([name, place]) => {
        const lines = preview?.[name] ?? draft[name] ?? 0;
        if (lines === (draft[name] ?? 0) || needsEncoding(preview)) return null;
        const text = `Skip ${formatCount(lines, 'line')} ${place}`;
        return <Offer key={name} text={text} onPick={() => change({ [name]: lines })} />;
      })}
      <SettingFields names={SECTIONS.reading} editing={editing} />
      <Table
        caption="The file as it is read"
        rows={columns}
        getKey={({ source }) => source}
        hasFailed={columns.length === 0}
        columns={[
          { name: 'source', title: 'Column in the file', cell: ({ source }) => <code>{source}</code> },
          { name: 'samples', title: 'First cells', cell: ({ samples }) => samples.join(', ') },
        ]}
      />
    </>
  );
}
