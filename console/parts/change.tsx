import { label, shown } from '../lib/text.js';

interface Values {
  old?: unknown;
  new?: unknown;
  /** What the values are called, where they are ids; '' for what is not there any more. */
  old_name?: string;
  new_name?: string;
}

/** One side of a change: a value, or its name with the value on hover; "empty" for none. */
const Side = ({ value, name, kind }: { value: unknown; name: string | undefined; kind: 'old' | 'new' }) => {
  const text = shown(value);
  if (text === '') return <span class="none">empty</span>;
  const title = name ? { title: text } : {};
  return kind === 'old' ? <del {...title}>{name || text}</del> : <ins {...title}>{name || text}</ins>;
};

/** A change of a value, old → new. @param isFirst of something that was not there before: the value alone. */
export const Change = ({ of: change, isFirst = false }: { of: Values; isFirst?: boolean }) =>
  isFirst ? (
    <Side value={change.new} name={change.new_name} kind="new" />
  ) : (
    <span class="change">
      <Side value={change.old} name={change.old_name} kind="old" />
      <span class="arrow" aria-label="becomes" role="img">
        →
      </span>
      <Side value={change.new} name={change.new_name} kind="new" />
    </span>
  );

/** Changes of fields, as the lines of a `dl`. A secret has no values. */
export const ChangeLines = ({
  changes,
  isFirst = false,
}: {
  changes: readonly (Values & { field: string })[];
  isFirst?: boolean;
}) => (
  <>
    {changes.map((change) => (
      <div key={change.field}>
        <dt>{label(change.field)}</dt>
        <dd>
          {'old' in change || 'new' in change ? (
            <Change of={change} isFirst={isFirst} />
          ) : (
            <span class="muted">changed (not shown)</span>
          )}
        </dd>
      </div>
    ))}
  </>
);
