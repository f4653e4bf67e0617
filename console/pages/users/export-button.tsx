import { useRef, useState } from 'preact/hooks';
import { useAction } from '../../api/resource.js';
import { formatCsv, downloadCsv } from '../../lib/csv.js';
import { formatCount, formatNumber } from '../../lib/text.js';
import { Icon } from '../../parts/icon.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { showToast } from '../../parts/toast.js';
import type { UserColumn } from './columns.js';
import { loadAllUsers } from './search.js';

interface ExportProps {
  query: URLSearchParams;
  columns: readonly UserColumn[];
  count: number | undefined;
}

/** Exports all pages of the list as a CSV file. */
export function ExportButton({ query, columns, count }: ExportProps) {
  const { run, isBusy, problem } = useAction();
  const [done, setDone] = useState(0);
  const controller = useRef<AbortController>(null);
  const start = async (): Promise<void> => {
    controller.current = new AbortController();
    const { signal } = controller.current;
    setDone(0);
    const users = await loadAllUsers(query, signal, setDone).catch((thrown: unknown) => {
      if (signal.aborted) return undefined;
      throw thrown;
    });
    if (!users) return;
    downloadCsv(
      'users.csv',
      formatCsv([
        columns.map(({ title }) => title),
        ...users.map((user) => columns.map(({ text }) => text(user))),
      ]),
    );
    showToast(`${formatCount(users.length, 'user')} exported.`);
  };
  return (
    <>
      <button
        type="button"
        disabled={!count && !isBusy}
        title="Export all users in this list as CSV, with the displayed columns"
        onClick={() => {
          if (isBusy) controller.current?.abort();
          else void run(start);
        }}
      >
        <Icon name={isBusy ? 'stop' : 'imports'} />
        {isBusy ? `Stop (${formatNumber(done)})` : 'Export'}
      </button>
      <ProblemNote problem={problem} />
    </>
  );
}
