import { toHref, useUrl } from '../lib/url.js';
import { formatNumber } from '../lib/text.js';

export interface Tab {
  /** Value of the query parameter. Empty for the first tab. */
  value: string;
  text: string;
  count?: number | undefined;
}

/** Links between the views of one page, stored in the query parameter `name`. */
export function Tabs(props: {
  name: string;
  label: string;
  tabs: readonly Tab[];
  /** Query parameters that are preserved when the tab changes. */
  keeps?: readonly string[];
}) {
  const { name, label, tabs, keeps = [] } = props;
  const { path, query } = useUrl();
  const current = query.get(name) ?? '';
  const kept = Object.fromEntries(keeps.map((each) => [each, query.get(each) ?? '']));
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ value, text, count }) => (
        <a
          key={value}
          href={toHref(path, { [name]: value, ...kept })}
          aria-current={value === current ? 'page' : undefined}
        >
          {text}
          {count !== undefined && <span class="badge">{formatNumber(count)}</span>}
        </a>
      ))}
    </nav>
  );
}
