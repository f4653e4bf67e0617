import type { ListPage } from '../api/client.js';
import { type Resource, useResource } from '../api/resource.js';
import { useUrl } from '../lib/url.js';
import { Pager } from './pager.js';
import { ProblemNote } from './problem-note.js';
import { Table, type TableProps } from './table.js';

/** A loaded list. */
export type LoadedList<T> = Omit<Resource<ListPage<T>>, 'set'>;

/** Loads a list with the filters and the position in the query of the URL. */
export function useList<T>(load: (query: URLSearchParams, signal: AbortSignal) => Promise<T>) {
  const { query } = useUrl();
  return { query, list: useResource(query.toString(), (signal) => load(query, signal)) };
}

interface ListProps<T> extends Omit<TableProps<T>, 'rows' | 'isLoading' | 'hasFailed'> {
  list: LoadedList<T>;
  /** Noun for a row, in the singular. */
  unit: string;
}

/** A list of the service with its problem, its table and the navigation between its pages. */
export const List = <T,>({ list: { data, problem, isLoading }, unit, ...table }: ListProps<T>) => (
  <>
    <ProblemNote problem={problem} />
    <Table
      {...table}
      rows={data?.rows ?? []}
      isLoading={isLoading}
      hasFailed={problem !== undefined && !data}
    />
    <Pager page={data} unit={unit} />
  </>
);
