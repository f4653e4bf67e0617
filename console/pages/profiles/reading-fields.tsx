import { formatCount } from '../../lib/text.js';
import { Offer } from '../../parts/offer.js';
import { Table } from '../../parts/table.js';
import { type Editing, SECTIONS } from './draft.js';
import { SettingFields } from './settings-fields.js';

/** Settings for reading the bytes of the file as rows: offers of the service, the settings, and the first cells as they are read. */
export function ReadingFields({ editing }: { editing: Editing }) {
  const { draft, preview, change, changeReading } = editing;
  const { encodings = [], columns = [], skip_lines: above, skip_last_lines: below } = preview ?? {};
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
      {above != null && above !== draft.skip_lines && (
        <Offer
          text={`Skip ${formatCount(above, 'line')} above the header`}
          onPick={() => change({ skip_lines: above })}
        />
      )}
      {below != null && below !== draft.skip_last_lines && (
        <Offer
          text={`Skip ${formatCount(below, 'line')} below the last row`}
          onPick={() => change({ skip_last_lines: below })}
        />
      )}
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
