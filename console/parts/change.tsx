import { shown } from '../lib/text.js';

/** One side of a change: a value, "empty" for none. */
const Side = ({ value, kind }: { value: unknown; kind: 'old' | 'new' }) => {
  const text = shown(value);
  if (text === '') return <span class="none">empty</span>;
  return kind === 'old' ? <del>{text}</del> : <ins>{text}</ins>;
};

/** A change of a value, old → new. @param isFirst of something that was not there before: the value alone. */
export const Change = ({ from, to, isFirst = false }: { from: unknown; to: unknown; isFirst?: boolean }) =>
  isFirst ? (
    <Side value={to} kind="new" />
  ) : (
    <span class="change">
      <Side value={from} kind="old" />
      <span class="arrow" aria-label="becomes" role="img">
        →
      </span>
      <Side value={to} kind="new" />
    </span>
  );
