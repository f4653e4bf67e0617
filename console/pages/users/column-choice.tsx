import { useEffect, useRef } from 'preact/hooks';
import { setQuery } from '../../lib/url.js';
import { CheckField, toggle } from '../../parts/field.js';
import { Icon } from '../../parts/icon.js';
import { COLUMNS, type UserColumn, formatColumns } from './columns.js';

/** Menu to choose the columns of the list. Escape or a click outside closes it. */
export function ColumnChoice({ chosen }: { chosen: readonly UserColumn[] }) {
  const menu = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (event: Event): void => {
      if (menu.current && event.target instanceof Node && !menu.current.contains(event.target))
        menu.current.open = false;
    };
    addEventListener('click', close);
    return () => removeEventListener('click', close);
  }, []);
  const names = chosen.map(({ name }) => name);
  return (
    <details
      ref={menu}
      class="menu"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !menu.current) return;
        menu.current.open = false;
        menu.current.querySelector('summary')?.focus();
      }}
    >
      <summary class="button">
        <Icon name="columns" />
        Columns
      </summary>
      <div>
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
      </div>
    </details>
  );
}
