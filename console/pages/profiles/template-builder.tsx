import { useState } from 'preact/hooks';
import { getField } from '../../lib/columns.js';
import { formatCount, formatValue } from '../../lib/text.js';
import { Button } from '../../parts/button.js';
import { Pick, TextField, toggle } from '../../parts/field.js';
import { type Editing, buildTemplate, listSources, removeTemplate, setMember } from './draft.js';
import { FALLBACK, FUNCTIONS, type Piece, formatTemplate, parseFunction, parseTemplate } from './template.js';

const SHOWN_VALUES = 5;

/** Editor for the template of an import column, with buttons for columns, texts and functions. */
export function TemplateBuilder({ column, editing }: { column: string; editing: Editing }) {
  const { draft, change, getError } = editing;
  const [selected, setSelected] = useState(0);
  const template = draft.set?.[column] ?? '';
  const pieces = parseTemplate(template);
  const piece = pieces?.[selected];
  const setTemplate = (text: string) => change({ set: setMember(draft.set, column, text) });
  const setPieces = (next: readonly Piece[], at = selected): void => {
    setTemplate(formatTemplate(next));
    setSelected(at);
  };
  const others = pieces?.toSpliced(selected, 1) ?? [];
  return (
    <fieldset class="builder">
      <legend>{column} from a template</legend>
      {/* An offered template rarely needs changes. */}
      <details open={!editing.getOffers(column).some((offer) => offer.template === template)}>
        <summary>Edit the template of {column}</summary>
        <div class="stack">
          {pieces && (
            <div class="buttons">
              {pieces.map((each, at) => (
                <button
                  key={at}
                  type="button"
                  class={each === FALLBACK ? 'chip full' : 'chip'}
                  aria-pressed={at === selected}
                  onClick={() => setSelected(at)}
                >
                  {formatPiece(each)}
                </button>
              ))}
              <Pick
                label={`Add a column to ${column}`}
                text="Add a column…"
                choices={listSources(editing)}
                onPick={(source) =>
                  setPieces([...pieces, { columns: [source], functions: [] }], pieces.length)
                }
              />
              <Button text="Add text" onClick={() => setPieces([...pieces, '.'], pieces.length)} />
              <Button
                text="Add a fallback for blank cells"
                onClick={() => change(buildTemplate(draft, column, true))}
              />
            </div>
          )}
          {pieces && piece !== undefined && (
            <>
              <PieceFields
                piece={piece}
                isUniqueAllowed={column === 'Username' && selected === pieces.length - 1}
                onPiece={(next) => setPieces(pieces.with(selected, next))}
              />
              <div class="buttons">
                {selected > 0 && (
                  <Button
                    text={`Move ${formatPiece(piece)} left`}
                    onClick={() => setPieces(others.toSpliced(selected - 1, 0, piece), selected - 1)}
                  />
                )}
                <Button
                  text={`Remove ${formatPiece(piece)}`}
                  onClick={() => setPieces(others, Math.max(0, selected - 1))}
                />
              </div>
            </>
          )}
          <TextField
            name={`template-${column}`}
            label={`Template of ${column}`}
            value={template}
            error={getError(`set.${column}`)}
            onValue={setTemplate}
            input={{ maxLength: 500, spellcheck: false, autocomplete: 'off' }}
          />
        </div>
      </details>
      <FirstValues column={column} editing={editing} />
      <div class="buttons">
        <Button
          text={`Remove the template of ${column}`}
          onClick={() => change(removeTemplate(draft, column))}
        />
      </div>
    </fieldset>
  );
}

const formatPiece = (piece: Piece): string =>
  typeof piece === 'string'
    ? `“${piece}”`
    : [piece.columns.join(' or '), ...piece.functions].join(' · ').replaceAll(': ', ':␣') || 'if blank';

/** Fields of a piece: its text, or the functions of its columns. */
function PieceFields(props: { piece: Piece; isUniqueAllowed: boolean; onPiece: (piece: Piece) => void }) {
  const { piece, isUniqueAllowed, onPiece } = props;
  if (typeof piece === 'string')
    return <TextField name="text" label="Text between the columns" value={piece} onValue={onPiece} />;
  if (piece === FALLBACK) return null;
  const { columns, functions } = piece;
  const find = (name: string) => functions.find((each) => parseFunction(each).name === name);
  const positionOf = (each: string) => Object.keys(FUNCTIONS).indexOf(parseFunction(each).name);
  const setFunctions = (next: readonly string[]): void =>
    onPiece({ columns, functions: next.toSorted((a, b) => positionOf(a) - positionOf(b)) });
  return (
    <>
      <div class="buttons" role="group" aria-label={`Functions for ${columns.join(' or ')}`}>
        {Object.entries(FUNCTIONS)
          .filter(([name]) => name !== 'unique' || isUniqueAllowed)
          .map(([name, { text, argument }]) => (
            <button
              key={name}
              type="button"
              class="chip"
              title={text}
              aria-pressed={find(name) !== undefined}
              onClick={() => {
                const added = argument === undefined ? name : `${name}:${argument}`;
                setFunctions(toggle(functions, find(name) ?? added, find(name) === undefined));
              }}
            >
              {name}
            </button>
          ))}
      </div>
      {functions.map((each, at) => {
        const { name, argument } = parseFunction(each);
        const label = `${name}: ${FUNCTIONS[name]?.text ?? ''}${argument === ' ' ? ' a space' : ''}`;
        const set = (value: string) => setFunctions(functions.with(at, `${name}:${value}`));
        return (
          argument !== undefined && (
            <TextField key={name} name={name} label={label} value={argument} onValue={set} />
          )
        );
      })}
    </>
  );
}

/** Shows the first values of an import column in the preview, and the number of duplicate values. */
export function FirstValues({ column, editing: { preview } }: { column: string; editing: Editing }) {
  const values = (preview?.rows ?? []).flatMap(({ fields }) => formatValue(fields[getField(column)]) || []);
  if (values.length === 0) return null;
  const duplicates = formatDuplicates(values.length - new Set(values).size);
  return (
    <p class="muted small">
      First values: <code>{values.slice(0, SHOWN_VALUES).join(', ')}</code> · {duplicates}
    </p>
  );
}

export const formatDuplicates = (duplicates: number): string =>
  duplicates === 0 ? 'no duplicates' : formatCount(duplicates, 'duplicate');
