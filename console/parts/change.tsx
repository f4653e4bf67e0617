import type { ComponentChildren } from 'preact';
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

interface ValueProps {
  value: unknown;
  name?: string | undefined;
  maxLength?: number;
}

/** Shows the old or new value of a change, or the name of the user with this id. */
export const ChangedValue = ({ value, name, maxLength = Infinity }: ValueProps) => {
  const text = formatValue(value);
  if (text === '') return <span class="none">empty</span>;
  if (name && UUID.test(text)) return <UserName id={text} name={name} />;
  const shown = name || text;
  return <>{shown.length > maxLength ? `${shown.slice(0, maxLength)}…` : shown}</>;
};

/** Shows a change as old → new, or only the new value if the old value is empty. */
export function Change({ of: change, maxLength = Infinity }: { of: Values; maxLength?: number }) {
  const added = <ChangedValue value={change.new} name={change.new_name} maxLength={maxLength} />;
  if (formatValue(change.old) === '') return <ins>{added}</ins>;
  return (
    <span class="change">
      <del>
        <ChangedValue value={change.old} name={change.old_name} maxLength={maxLength} />
      </del>
      <span class="arrow" aria-label="changes to" role="img">
        →
      </span>
      <ins>{added}</ins>
    </span>
  );
}

interface ChangeListProps {
  changes: readonly (Values & { field: string })[];
  /** Maximum length of a shown value, in characters. */
  maxLength?: number;
  /** List items to show before the changes. */
  children?: ComponentChildren;
}

/** Lists changed fields. Secrets have no values. */
export const ChangeList = ({ changes, children, maxLength }: ChangeListProps) => (
  <dl class="diff">
    {children}
    {changes.map((change) => (
      <div key={change.field}>
        <dt>{getLabel(change.field)}</dt>
        <dd>
          {'old' in change || 'new' in change ? (
            <Change of={change} {...(maxLength && { maxLength })} />
          ) : (
            <span class="muted">changed (value not shown)</span>
          )}
        </dd>
      </div>
    ))}
  </dl>
);
