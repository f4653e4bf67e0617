import { useId } from 'preact/hooks';
import { useResource } from '../../api/resource.js';
import { UUID, loadUser } from '../../api/users.js';
import { useDelayed } from '../../lib/use-delayed.js';
import { getDisplayName } from '../../parts/avatar.js';
import { LabelledField, type TextProps } from '../../parts/field.js';
import { searchUsers } from '../users/search.js';

const MAX_SUGGESTIONS = 8;

/** Input for the manager's UUID. While the user types a name, the browser suggests matching users. */
export function ManagerField({ value, onValue, ...field }: TextProps) {
  const id = useId();
  const text = useDelayed(value.trim(), 250);
  const searchText = text.length > 1 && !UUID.test(text) ? text : undefined;
  const matches = useResource(searchText, (signal) =>
    searchUsers(new URLSearchParams({ q: searchText ?? '' }), signal, MAX_SUGGESTIONS),
  );
  const isChosen = UUID.test(value.trim());
  const chosen = useResource(isChosen ? value.trim() : undefined, (signal) => loadUser(value.trim(), signal));
  const hint =
    isChosen && chosen.data
      ? `${getDisplayName(chosen.data.user)}, ${chosen.data.user.email}`
      : 'Type a name and choose a user.';
  return (
    <div>
      <LabelledField {...field} hint={hint}>
        {(attributes) => (
          <input
            {...attributes}
            type="text"
            list={id}
            value={value}
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => onValue(event.currentTarget.value)}
          />
        )}
      </LabelledField>
      <datalist id={id}>
        {searchText &&
          matches.data?.rows.map((user) => (
            <option key={user.uuid} value={user.uuid}>
              {`${getDisplayName(user)} · ${text} · ${user.email}`}
            </option>
          ))}
      </datalist>
    </div>
  );
}
