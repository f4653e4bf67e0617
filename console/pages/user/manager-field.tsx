import { useId } from 'preact/hooks';
import { useResource } from '../../api/resource.js';
import { UUID, findMatches, loadUser } from '../../api/users.js';
import { useDelayed } from '../../lib/use-delayed.js';
import { getDisplayName } from '../../parts/avatar.js';
import { LabelledField, type TextProps } from '../../parts/field.js';

/** Input for the manager, as a UUID or as text that finds one user. While the user types, the browser suggests users. */
export function ManagerField({ value, onValue, ...field }: TextProps) {
  const id = useId();
  const text = useDelayed(value.trim(), 250);
  const isSearch = text.length > 1;
  const { data } = useResource(isSearch ? text : undefined, async (signal) =>
    UUID.test(text) ? [(await loadUser(text, signal)).user] : findMatches(text, signal),
  );
  const matches = isSearch && data ? data : [];
  const [user, other] = matches;
  const hint =
    user && !other ? `${getDisplayName(user)}, ${user.email}` : 'Type a name or username, or choose a user.';
  return (
    <div>
      <LabelledField {...field} hint={hint}>
        {(attributes) => (
          <input
            {...attributes}
            type="text"
            list={id}
            value={user?.uuid === value ? user.username : value}
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => onValue(event.currentTarget.value)}
          />
        )}
      </LabelledField>
      <datalist id={id}>
        {matches.map((each) => (
          <option key={each.uuid} value={each.username}>
            {`${getDisplayName(each)} · ${text} · ${each.email}`}
          </option>
        ))}
      </datalist>
    </div>
  );
}
