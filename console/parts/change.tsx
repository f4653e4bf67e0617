import { getLabel, formatValue } from '../lib/text.js';

interface Values {
  old?: unknown;
  new?: unknown;
  /** Display names of values that are ids. Empty if the record no longer exists. */
  old_name?: string;
  new_name?: string;
}

/** Shows the old or new value of a change, or its name with the value as a tooltip. */
const ChangedValue = ({
  value,
  name,
  kind,
}: {
  value: unknown;
  name: string | undefined;
  kind: 'old' | 'new';
}) => {
  const text = formatValue(value);
  if (text === '') return <span class="none">empty</span>;
  const title = name ? { title: text } : {};
  return kind === 'old' ? <del {...title}>{name || text}</del> : <ins {...title}>{name || text}</ins>;
};

/** Shows a change as old → new. @param isFirst true shows only the new value, for a created record. */
export const Change = ({ of: change, isFirst = false }: { of: Values; isFirst?: boolean }) =>
  isFirst ? (
    <ChangedValue value={change.new} name={change.new_name} kind="new" />
  ) : (
    <span class="change">
      <ChangedValue value={change.old} name={change.old_name} kind="old" />
      <span class="arrow" aria-label="changes to" role="img">
        →
      </span>
      <ChangedValue value={change.new} name={change.new_name} kind="new" />
    </span>
  );

/** Shows changed fields as the lines of a `dl`. Secrets have no values. */
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
        <dt>{getLabel(change.field)}</dt>
        <dd>
          {'old' in change || 'new' in change ? (
            <Change of={change} isFirst={isFirst} />
          ) : (
            <span class="muted">changed (value not shown)</span>
          )}
        </dd>
      </div>
    ))}
  </>
);
