import { useState } from 'preact/hooks';
import { useRoles } from '../../api/roles.js';
import { formatNumber } from '../../lib/text.js';
import { Button } from '../../parts/button.js';
import { Select, TextField, toChoices } from '../../parts/field.js';
import { Table } from '../../parts/table.js';
import { type Editing, type TextMap, findKey, setMember } from './draft.js';
import { SettingFields } from './settings-fields.js';

/** Key of all words that are not listed. */
const ANY_OTHER = '*';
/** Select values that keep the word of the file, and that remove the word from the profile. */
const [UNCHANGED, REMOVED] = ['unchanged:', 'removed:'];

interface Word {
  word: string;
  rows?: number;
  /** Value to which the word is translated. Null without a translation. */
  meaning: string | null;
}

/** Words of a source column, or of an import column. */
interface Group {
  name: string;
  column: string;
  words: Word[];
}

const toWordKey = (word: string): string => word.trim().toLowerCase();

/** Groups the words of the file and of the draft by column. Each group has an entry for all unlisted words. */
function listGroups({ draft: { columns, values = {} }, preview }: Editing): Group[] {
  const found = (preview?.words ?? []).map(({ source, column, words }) => {
    const name = findKey(values, source) ?? findKey(values, column) ?? source;
    return { name, column, words };
  });
  const listed = Object.keys(values)
    .filter((name) => found.every((group) => group.name !== name))
    .map((name) => ({ name, column: columns[findKey(columns, name) ?? ''] ?? name, words: [] }));
  return [...found, ...listed].map(({ name, column, words }) => {
    const others = new Set([...Object.keys(values[name] ?? {}), ANY_OTHER]);
    for (const other of others)
      if (words.some(({ word }) => toWordKey(word) === toWordKey(other))) others.delete(other);
    return { name, column, words: [...words, ...[...others].map((word) => ({ word, meaning: null }))] };
  });
}

/** Fields that translate the words of the file, and that derive the status from dates. */
export function WordsFields({ editing }: { editing: Editing }) {
  return (
    <>
      {listGroups(editing).map((group) => (
        <WordsTable key={group.name} group={group} editing={editing} />
      ))}
      <h3>Status from dates</h3>
      <SettingFields names={['active_from', 'active_until', 'date_format']} editing={editing} />
    </>
  );
}

function WordsTable({ group: { name, column, words }, editing }: { group: Group; editing: Editing }) {
  const [typed, setTyped] = useState('');
  /** Words that are not in the file. The draft contains them as soon as they have a meaning. */
  const [added, setAdded] = useState<readonly Word[]>([]);
  const isIn = (list: readonly Word[], word: string): boolean =>
    list.some((each) => toWordKey(each.word) === toWordKey(word));
  return (
    <>
      <Table
        caption={`Words of ${name}`}
        rows={[...words, ...added.filter(({ word }) => !isIn(words, word))]}
        getKey={({ word }) => word}
        columns={[
          { title: `Word in ${name}`, cell: ({ word }) => <code>{formatWord(word)}</code> },
          { title: 'Rows', isNumber: true, cell: ({ rows }) => rows !== undefined && formatNumber(rows) },
          {
            title: column,
            cell: (word) => <Meaning word={word} name={name} column={column} editing={editing} />,
          },
        ]}
      />
      <div class="toolbar">
        <TextField
          name={`word-${name}`}
          label={`Another word in ${name}`}
          value={typed}
          onValue={setTyped}
          input={{ maxLength: 255, autocomplete: 'off' }}
        />
        <Button
          text={`Add the word to ${name}`}
          isDisabled={typed.trim() === '' || isIn([...words, ...added], typed)}
          onClick={() => {
            setAdded([...added, { word: typed.trim(), meaning: null }]);
            setTyped('');
          }}
        />
      </div>
    </>
  );
}

const formatWord = (word: string): string =>
  word === ANY_OTHER ? 'every other word' : word || 'an empty cell';

/** Choice of the value that a word becomes: a status, a role or any text. */
function Meaning(props: { word: Word; name: string; column: string; editing: Editing }) {
  const { word, meaning } = props.word;
  const { name, column, editing } = props;
  const { draft, change, getError } = editing;
  const roles = useRoles();
  const map: TextMap = draft.values?.[name] ?? {};
  const key = Object.keys(map).find((each) => toWordKey(each) === toWordKey(word)) ?? word;
  const label = `Meaning of ${formatWord(word)} in ${name}`;
  const set = (value: string): void => {
    const next = setMember(map, key, value === UNCHANGED ? undefined : value === REMOVED ? '' : value);
    change({ values: setMember(draft.values, name, Object.keys(next).length > 0 ? next : undefined) });
  };
  if (column !== 'Status' && column !== 'Roles')
    return <input aria-label={label} value={map[key]} onInput={(event) => set(event.currentTarget.value)} />;
  const known = column === 'Roles' ? roles : ['Active', 'Blocked'];
  return (
    <Select
      label={label}
      error={getError(`values.${name}.${key}`)}
      value={map[key] === undefined ? UNCHANGED : map[key] || REMOVED}
      choices={[
        { value: UNCHANGED, text: meaning === null ? 'No meaning' : `Unchanged (${meaning || 'nothing'})` },
        ...toChoices([...new Set([...known, map[key] ?? ''])].filter((each) => each !== '')),
        { value: REMOVED, text: 'Nothing' },
      ]}
      onValue={set}
    />
  );
}
