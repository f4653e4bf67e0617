import { href, usePlace } from '../lib/place.js';
import { number } from '../lib/text.js';

export interface Tab {
  /** In the address; '' for the first. */
  value: string;
  text: string;
  count?: number | undefined;
}

/** Links between the views of one page: each has an address. @param name of the query parameter. */
export function Tabs({ name, label, tabs }: { name: string; label: string; tabs: readonly Tab[] }) {
  const { path, query } = usePlace();
  const current = query.get(name) ?? '';
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ value, text, count }) => (
        <a
          key={value}
          href={href(path, { [name]: value })}
          aria-current={value === current ? 'page' : undefined}
        >
          {text}
          {count !== undefined && <span class="badge">{number(count)}</span>}
        </a>
      ))}
    </nav>
  );
}
