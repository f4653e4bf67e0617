import { setQuery } from '../../lib/url.js';
import { CheckField, toggle } from '../../parts/field.js';
import { Icon } from '../../parts/icon.js';
import { Menu } from '../../parts/menu.js';
import { COLUMNS, type UserColumn, formatColumns } from './columns.js';

/** Menu to choose the columns of the list. */
export function ColumnChoice({ chosen }: { chosen: readonly UserColumn[] }) {
  const names = chosen.map(({ name }) => name);
  return (
    <Menu
      summary={
        <>
          <Icon name="columns" />
          Columns
        </>
      }
    >
      {COLUMNS.map(({ name, title }) => (
        <CheckField
          key={name}
          name={`column-${name}`}
          label={title}
          value={names.includes(name)}
          onValue={(isChosen) =>
            setQuery({ columns: formatColumns(toggle(names, name, isChosen)) }, { replace: true })
          }
        />
      ))}
    </Menu>
  );
}
