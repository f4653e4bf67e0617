import { UUID } from '../api/users.js';
import { getLabel, formatValue } from '../lib/text.js';
import { UserName } from './user-link.js';

interface Values {
  old?: unknown;
  new?: unknown;
  /** Display names of values that are ids. Empty if the record no longer exists. */
  old_name?: string;
  new_name?: string;
}

/** Shows the old or new value of a change, or the name of the user with this id. */
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
  const shown = name && UUID.test(text) ? <UserName id={text} name={name} /> : name || text;
  return kind === 'old' ? <del>{shown}</del> : <ins>{shown}</ins>;
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
