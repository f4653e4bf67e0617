import { useRef, useState } from 'preact/hooks';
import { useAction } from '../../api/resource.js';
import { csvOf, download } from '../../lib/csv.js';
import { counted, number } from '../../lib/text.js';
import { Icon } from '../../parts/icon.js';
import { ProblemNote } from '../../parts/problem-note.js';
import { say } from '../../parts/toast.js';
import type { UserColumn } from './columns.js';
import { everyUser } from './search.js';

interface ExportProps {
  query: URLSearchParams;
  columns: readonly UserColumn[];
  count: number | undefined;
}

/** Exports all pages of the list as a CSV file. */
export function ExportButton({ query, columns, count }: ExportProps) {
  const { run, isBusy, problem } = useAction();
  const [done, setDone] = useState(0);
  const end = useRef<AbortController>(null);
  const start = async (): Promise<void> => {
    end.current = new AbortController();
    const { signal } = end.current;
    setDone(0);
    const users = await everyUser(query, signal, setDone).catch((thrown: unknown) => {
      if (signal.aborted) return undefined;
      throw thrown;
    });
    if (!users) return;
    download(
      'users.csv',
      csvOf([
        columns.map(({ title }) => title),
        ...users.map((user) => columns.map(({ text }) => text(user))),
      ]),
    );
    say(`${counted(users.length, 'user')} exported.`);
  };
  return (
    <>
      <button
        type="button"
        disabled={!count && !isBusy}
        title="Export all users of this list as CSV, with the displayed columns"
        onClick={() => {
          if (isBusy) end.current?.abort();
          else void run(start);
        }}
      >
        <Icon name={isBusy ? 'stop' : 'imports'} />
        {isBusy ? `Stop (${number(done)})` : 'Export'}
      </button>
      <ProblemNote problem={problem} />
    </>
  );
}
