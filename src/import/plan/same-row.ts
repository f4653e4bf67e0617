import type { User } from '../../users/model/user.js';
import { unescapeFormula } from '../../common/csv.js';
import type { Header } from '../file/run-files.js';

/**
 * Whether a row says of its user what the user is already, cell by cell as the export writes it: the usual row of a
 * nightly file. It needs no judgement, since nothing of it would be written; a row that says the same in other words
 * (`yes` for `true`) is judged and found unchanged then.
 * @param manager uuid of the manager that the row names; null for none.
 */
export function isSame(
  cells: readonly string[],
  header: Header,
  user: User,
  manager: string | null | undefined,
  blankCells: 'clear' | 'keep',
): boolean {
  return header.every((column, index) => {
    if (!column) return true;
    const cell = unescapeFormula(cells[index] ?? '');
    if (cell === '' && (column.keepsBlank || blankCells === 'keep')) return true;
    if (column.kind === 'manager') return manager === user.manager_uuid;
    return cell === column.write(user, '') || (column.kind === 'roles' && sameRoles(cell, user));
  });
}

/** Roles have no order. */
function sameRoles(cell: string, { roles }: User): boolean {
  const named = cell.split(/[;|]/);
  return named.length === roles.length && roles.every((role) => named.includes(role));
}
