import { useRef } from 'preact/hooks';
import { setQuery, usePlace } from '../lib/place.js';
import { counted, number } from '../lib/text.js';
import { Icon } from './icon.js';

interface PagerProps {
  /** Total number of matches. Undefined while loading. */
  count: number | undefined;
  shown: number;
  /** Noun in singular and plural. */
  unit: [one: string, many: string];
  /** Cursor of the next page. Empty on the last page. */
  next: string;
}

/** Position in a list, stored in the state of the browser history. */
interface Way {
  /** Number of previous pages. */
  depth: number;
  /** Number of rows on previous pages. */
  before: number;
}

function way(): Way | undefined {
  const state: unknown = history.state;
  return typeof state === 'object' && state !== null && 'depth' in state ? (state as Way) : undefined;
}

/** Navigation of a list with cursor paging. The URL contains the cursor, and "Previous" goes back in the history. */
export function Pager({ count, shown, unit, next }: PagerProps) {
  const { query } = usePlace();
  const isFirst = !query.has('after');
  const end = useRef<HTMLElement>(null);
  const { depth, before } = way() ?? { depth: 0, before: 0 };
  // If the URL of a later page is opened directly, the number of rows before it is unknown.
  const isPlaced = isFirst || depth > 0;
  if (count === undefined) return <div class="pager" />;
  const whole = counted(count, ...unit);
  return (
    <nav class="pager" aria-label="Pages" ref={end}>
      <span>
        {shown >= count
          ? whole
          : isPlaced && shown > 0
            ? `${number(before + 1)} to ${number(before + shown)} of ${whole}`
            : `${number(shown)} of ${whole}`}
      </span>
      <span class="buttons">
        {!isFirst && (
          <button
            type="button"
            onClick={() => {
              if (depth > 0) history.back();
              else setQuery({ after: undefined });
            }}
          >
            <Icon name="left" />
            {depth > 0 ? 'Previous' : 'First page'}
          </button>
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
