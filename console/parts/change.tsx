import { shown } from '../lib/text.js';

/** One side of a change: a value, "empty" for none. */
const Side = ({ value, kind }: { value: unknown; kind: 'old' | 'new' }) => {
  const text = shown(value);
  if (text === '') return <span class="none">empty</span>;
  return kind === 'old' ? <del>{text}</del> : <ins>{text}</ins>;
};

/** A change of a value, old → new. */
export const Change = ({ from, to }: { from: unknown; to: unknown }) => (
  <span class="change">
    <Side value={from} kind="old" />
    <span class="arrow" aria-label="becomes" role="img">
      →
    </span>
    <Side value={to} kind="new" />
  </span>
);
