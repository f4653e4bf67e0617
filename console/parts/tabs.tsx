import { href, usePlace } from '../lib/place.js';
import { number } from '../lib/text.js';

export interface Tab {
  /** In the address; '' for the first. */
  value: string;
  text: string;
  count?: number | undefined;
}

/** Links between the views of one page: each has an address. @param name of the query parameter. */
export function Tabs(props: {
  name: string;
  label: string;
  tabs: readonly Tab[];
  /** Other query parameters that every tab keeps. */
  keeps?: readonly string[];
}) {
  const { name, label, tabs, keeps = [] } = props;
  const { path, query } = usePlace();
  const current = query.get(name) ?? '';
  const kept = Object.fromEntries(keeps.map((each) => [each, query.get(each) ?? '']));
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ value, text, count }) => (
        <a
          key={value}
          href={href(path, { [name]: value, ...kept })}
          aria-current={value === current ? 'page' : undefined}
        >
          {text}
          {count !== undefined && <span class="badge">{number(count)}</span>}
        </a>
      ))}
    </nav>
  );
}
