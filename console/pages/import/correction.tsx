import { useState } from 'preact/hooks';
import type { Row, Run } from '../../api/client.js';
import { useAction, useResource } from '../../api/resource.js';
import { importFile } from '../../api/upload.js';
import { formatCount, formatNumber, getLabel } from '../../lib/text.js';
import { confirmIfUnsaved, useUnsavedWarning } from '../../lib/unsaved.js';
import { navigate, toHref } from '../../lib/url.js';
import { Button } from '../../parts/button.js';
import { CheckField } from '../../parts/field.js';
import { Card } from '../../parts/page.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { Table } from '../../parts/table.js';
import { DropZone } from '../../parts/drop-zone.js';
import { type FailedRow, createFile, findColumn, loadFailedFile } from './failed-rows.js';
import { RowError } from './row-error.js';
import { RowPerson } from './row-person.js';
import { getCount } from './runs.js';

const PAGE = 25;

/** The failed rows of a run as a table with editable cells, which are sent again as a new run. */
export function Correction({ run, errors }: { run: Run; errors: readonly Row[] }) {
  const { data: file, problem } = useResource(run.id, (signal) => loadFailedFile(run.id, signal));
  const action = useAction();
  const [start, setStart] = useState(0);
  /** Lines of the edited rows. The edited cells are in `file`. */
  const [edited, setEdited] = useState<ReadonlySet<number>>(new Set());
  const [linked, setLinked] = useState<ReadonlySet<number>>(new Set());
  useUnsavedWarning(edited.size + linked.size > 0);
  const send = (corrected: File, lines: ReadonlySet<number>) =>
    void action.run(async () => {
      const { id } = await importFile(corrected, { corrects: run.id, adopt_rows: [...lines].join() });
      navigate(toHref(`/imports/${id}`), { replace: true }); // without a question, because the edits were sent
    });
  if (!file)
    return problem ? <ProblemNote problem={problem} /> : <p class="muted">Loading the failed rows…</p>;
  const rowsByLine = new Map(errors.map((row) => [row.line, row]));
  const count = getCount(run, 'error');
  const end = Math.min(start + PAGE, file.rows.length);

  /** Shows the page of the table with a line, and focuses its first cell. Edited cells are kept. */
  const showLine = (line: number): boolean => {
    const index = file.rows.findIndex((row) => row.line === line);
    if (index < 0) return false;
    setStart(index - (index % PAGE));
    requestAnimationFrame(() => document.getElementById(`cell-${line}-0`)?.focus());
    return true;
  };
  const listErrors = (row: FailedRow, column: number) =>
    (rowsByLine.get(row.line)?.errors ?? [])
      .filter((error) => findColumn(file, row, error) === column)
      .map((error) => (
        <p key={error.field + error.code} class="error">
          {column < 0 && getLabel(error.field)} <RowError run={run} error={error} onLine={showLine} />
        </p>
      ));
  const showPerson = (row: FailedRow) => {
    const stored = rowsByLine.get(row.line);
    return (
      <>
        {stored && <RowPerson row={stored} />}
        {listErrors(row, -1)}
        {row.cells.slice(file.header.length, -1).join(' | ')}
        {stored?.errors.some(({ code }) => code === 'unlinked_conflict') && (
          <CheckField
            name={`link-${row.line}`}
            label="Link to this user"
            value={linked.has(row.line)}
            onValue={(isLinked) =>
              setLinked(new Set([...linked, row.line].filter((line) => isLinked || line !== row.line)))
            }
          />
        )}
      </>
    );
  };
  const showCell = (row: FailedRow, column: number, title: string) => {
    const messages = listErrors(row, column);
    const isWrong = messages.length > 0;
    const id = `error-${row.line}-${column}`;
    return (
      <div class={`field${isWrong ? ' wrong' : ''}`}>
        <input
          id={`cell-${row.line}-${column}`}
          aria-label={`${title}, line ${row.line}`}
          aria-invalid={isWrong ? true : undefined}
          aria-describedby={isWrong ? id : undefined}
          value={row.cells[column]}
          onInput={(event) => {
            row.cells[column] = event.currentTarget.value;
            if (!edited.has(row.line)) setEdited(new Set([...edited, row.line]));
          }}
        />
        {isWrong && <div id={id}>{messages}</div>}
      </div>
    );
  };
  return (
    <>
      <ProblemNote problem={action.problem} />
      <Card
        title="Correct the rows"
        actions={
          <Button
            text="Send again"
            kind="primary"
            isBusy={action.isBusy}
            onClick={() => send(createFile(run.file.name, file, edited), linked)}
          />
        }
      >
        <p class="muted">
          {file.rows.length < count
            ? `The first ${formatNumber(file.rows.length)} of ${formatCount(count, 'failed row')} can be corrected here. Download the failed rows to correct all of them.`
            : 'All failed rows are sent again in a new run, with the same profile and data set. Words that the profile has gained since then also apply. Other users stay unchanged.'}
        </p>
        <div class="corrected">
          <Table
            caption="Failed rows"
            columns={[
              { title: 'Line', isNumber: true, cell: ({ line }) => line },
              { title: 'Person', cell: showPerson },
              ...file.columns.map((title, column) => ({
                name: String(column),
                title,
                cell: (row: FailedRow) => showCell(row, column, title),
              })),
            ]}
            rows={file.rows.slice(start, end)}
            getKey={({ line }) => String(line)}
          />
        </div>
        <div class="pager">
          {formatNumber(start + 1)} to {formatNumber(end)} of {formatCount(file.rows.length, 'row')}
          <span class="buttons">
            <Button text="Previous" isDisabled={start === 0} onClick={() => setStart(start - PAGE)} />
            <Button
              text="Next"
              isDisabled={end === file.rows.length}
              onClick={() => setStart(start + PAGE)}
            />
          </span>
        </div>
      </Card>
      <Card title="Correct the rows in a spreadsheet">
        <p class="muted">Download the failed rows, correct them, then choose the corrected file.</p>
        <DropZone
          text="Drop the corrected CSV file here, or"
          onFiles={([chosen]) => confirmIfUnsaved(() => send(chosen, new Set()))}
        />
      </Card>
    </>
  );
}
