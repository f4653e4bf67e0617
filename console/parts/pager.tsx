import { useRef } from 'preact/hooks';
import { setQuery, usePlace } from '../lib/place.js';
import { counted, number } from '../lib/text.js';
import { Icon } from './icon.js';

interface PagerProps {
  /** All that match; undefined while it is not known. */
  count: number | undefined;
  shown: number;
  /** One of them, and several. */
  unit: [one: string, many: string];
  /** The cursor of the next page; '' at the end. */
  next: string;
}

/** How the reader has come to a page of a list; the browser keeps it beside the address. */
interface Way {
  /** Pages, and rows of the list, that are before this one. */
  depth: number;
  before: number;
}

function way(): Way | undefined {
  const state: unknown = history.state;
  return typeof state === 'object' && state !== null && 'depth' in state ? (state as Way) : undefined;
}

/** The end of a list that is walked by cursors: the address has the cursor, and "Previous" is the way back. */
export function Pager({ count, shown, unit, next }: PagerProps) {
  const { query } = usePlace();
  const isFirst = !query.has('after');
  const end = useRef<HTMLElement>(null);
  const { depth, before } = way() ?? { depth: 0, before: 0 };
  // Whoever opens the address of a later page does not know how many rows are before it.
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
              end.current?.parentElement?.scrollIntoView(); // the list begins there
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
