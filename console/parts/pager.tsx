import { useRef } from 'preact/hooks';
import { setQuery, useUrl } from '../lib/url.js';
import type { ListPage } from '../api/client.js';
import { formatCount, formatNumber } from '../lib/text.js';
import { Button } from './button.js';
import { Icon } from './icon.js';

/** Position in a list, stored in the state of the browser history. */
interface HistoryPosition {
  /** Number of previous pages. */
  depth: number;
  /** Number of rows on previous pages. */
  before: number;
}

/**
 * Navigation of a list with cursor paging. The URL contains the cursor, and "Previous" goes back in the history.
 * @param page undefined while the list is loading.
 * @param unit noun for a row, in the singular.
 */
export function Pager({ page, unit }: { page: ListPage<unknown> | undefined; unit: string }) {
  const { query } = useUrl();
  const isFirst = !query.has('after');
  const end = useRef<HTMLElement>(null);
  const { depth, before } = { depth: 0, before: 0, ...(history.state as Partial<HistoryPosition> | null) };
  // If the URL of a later page is opened directly, the number of rows before it is unknown.
  const isPlaced = isFirst || depth > 0;
  if (!page) return <div class="pager" />;
  const { count, isExact = true, next } = page;
  const shown = page.rows.length;
  const whole = formatCount(count, unit, `${unit}s${isExact ? '' : ' or more'}`);
  return (
    <nav class="pager" aria-label="Pages" ref={end}>
      <span>
        {shown >= count
          ? whole
          : isPlaced && shown > 0
            ? `${formatNumber(before + 1)} to ${formatNumber(before + shown)} of ${whole}`
            : `${formatNumber(shown)} of ${whole}`}
      </span>
      <span class="buttons">
        {!isFirst && (
          <Button
            text={depth > 0 ? 'Previous' : 'First page'}
            icon="left"
            onClick={() => (depth > 0 ? history.back() : setQuery({ after: undefined }))}
          />
        )}
        {(next || !isFirst) && (
          <button
            type="button"
            disabled={!next}
            onClick={() => {
              setQuery({ after: next }, { state: { depth: depth + 1, before: before + shown } });
              end.current?.parentElement?.scrollIntoView(); // start of the list
            }}
          >
            Next
            <Icon name="right" />
          </button>
        )}
      </span>
    </nav>
  );
}
