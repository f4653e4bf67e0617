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

/** Which page of a list the reader has come to; the browser keeps it beside the address. */
const depth = (): number => {
  const state: unknown = history.state;
  return typeof state === 'object' && state !== null && 'depth' in state ? Number(state.depth) : 0;
};

/** The end of a list that is walked by cursors: the address has the cursor, and "Previous" is the way back. */
export function Pager({ count, shown, unit, next }: PagerProps) {
  const { query } = usePlace();
  const isFirst = !query.has('after');
  if (count === undefined) return <div class="pager" />;
  const whole = counted(count, ...unit);
  return (
    <nav class="pager" aria-label="Pages">
      <span>{shown < count ? `${number(shown)} of ${whole}` : whole}</span>
      <span class="buttons">
        {!isFirst && (
          <button
            type="button"
            onClick={() => {
              if (depth() > 0) history.back();
              else setQuery({ after: undefined });
            }}
          >
            <Icon name="left" />
            {depth() > 0 ? 'Previous' : 'First page'}
          </button>
        )}
        {(next || !isFirst) && (
          <button
            type="button"
            disabled={!next}
            onClick={() => {
              setQuery({ after: next }, { state: { depth: depth() + 1 } });
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
