import type { ComponentChildren } from 'preact';
import { Icon } from './icon.js';

export interface Column<T> {
  /** Identifies the column. By default, the title. */
  name?: string;
  title: string;
  /** Content of the header cell. By default, the title. */
  header?: ComponentChildren;
  cell: (row: T) => ComponentChildren;
  /** Sort field of the service. Missing if the column cannot be sorted. */
  sort?: string;
  /** True for numbers, which are right-aligned. */
  isNumber?: boolean;
}

export interface TableProps<T> {
  /** Name of the table for screen readers. */
  caption: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  getKey: (row: T) => string;
  sort?: string;
  order?: 'asc' | 'desc';
  onSort?: (sort: string, order: 'asc' | 'desc') => void;
  isLoading?: boolean;
  /** True if the rows could not be loaded. Nothing is rendered then. */
  hasFailed?: boolean;
  /** Content of a table without rows. */
  empty?: ComponentChildren;
}

/** A table, which scrolls horizontally if it is wider than the window. A phone shows each row as a card. */
export function Table<T>(props: TableProps<T>) {
  const { caption, columns, rows, getKey, isLoading = false, empty = 'No entries yet.' } = props;
  if (props.hasFailed) return null;
  return (
    // Focusable, so that it can be scrolled with the keyboard.
    <div class={`scroll${isLoading ? ' loading' : ''}`} role="region" aria-label={caption} tabIndex={0}>
      <table aria-busy={isLoading}>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <HeaderCell key={getName(column)} column={column} table={props} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={getKey(row)}>
              {columns.map((column) => (
                <td
                  key={getName(column)}
                  class={column.isNumber ? 'number' : undefined}
                  data-title={column.title}
                >
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
          {rows.length === 0 && (
            <tr>
              <td colSpan={columns.length} class="empty">
                {isLoading ? 'Loading…' : empty}
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}

const getName = <T,>({ title, name = title }: Column<T>): string => name;

function HeaderCell<T>({ column, table }: { column: Column<T>; table: TableProps<T> }) {
  const { title, header = title, sort, isNumber = false } = column;
  const { onSort } = table;
  const order = sort && table.sort === sort ? table.order : undefined;
  return (
    <th
      scope="col"
      class={isNumber ? 'number' : undefined}
      aria-sort={order && (order === 'asc' ? 'ascending' : 'descending')}
    >
      {sort && onSort ? (
        <button type="button" class="sort" onClick={() => onSort(sort, order === 'asc' ? 'desc' : 'asc')}>
          {title}
          {order && <Icon name={order === 'asc' ? 'up' : 'down'} />}
        </button>
      ) : (
        header
      )}
    </th>
  );
}
