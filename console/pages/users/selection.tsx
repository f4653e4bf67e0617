import { useState } from 'preact/hooks';
import { type ListPage, type User, serviceInfo } from '../../api/client.js';
import { useRoles } from '../../api/roles.js';
import { type BulkChange, changeUsers } from '../../api/users.js';
import { formatCount } from '../../lib/text.js';
import { navigate, toHref } from '../../lib/url.js';
import { getDisplayName } from '../../parts/avatar.js';
import { Button, LinkButton } from '../../parts/button.js';
import { Confirm } from '../../parts/dialog.js';
import { CheckField, SelectField, TextField, toChoices } from '../../parts/field.js';
import { ManagerField } from '../user/manager-field.js';
import type { UserColumn } from './columns.js';
import { type Filters, getExportUrl } from './search.js';

/** Maximum number of users that a bulk change can list. */
const MAX_SELECTED = 10_000;
/** Maximum users of an export that lists its users. */
const MAX_EXPORTED = 100;

/** The selected users: their ids, or all users of the list. */
export interface Selection {
  ids: ReadonlySet<string>;
  isAll: boolean;
  /** User whose checkbox was changed last. A Shift-click changes all users between this user and the clicked one. */
  last?: string | undefined;
}
export const NO_SELECTION: Selection = { ids: new Set(), isAll: false };

type SetSelection = (selection: Selection) => void;

/** Returns the column with a checkbox for each user. The checkbox in its header selects all users on the page. */
export function createSelectionColumn(
  { ids, isAll, last }: Selection,
  page: ListPage<User> | undefined,
  set: SetSelection,
): UserColumn {
  const shown = (page?.rows ?? []).map(({ uuid }) => uuid);
  const select = (changed: readonly string[], isSelected: boolean): void => {
    const others = (isAll ? shown : [...ids]).filter((id) => !changed.includes(id));
    const next = isSelected ? [...others, ...changed].slice(0, MAX_SELECTED) : others;
    set({ ids: new Set(next), isAll: false, last: changed[0] });
  };
  /** Returns a user, then all users from this user to the user whose checkbox was changed last. */
  const listRange = (id: string): string[] => {
    const [from, to] = [shown.indexOf(id), shown.indexOf(last ?? id)];
    return to < 0 ? [id] : [id, ...shown.slice(Math.min(from, to), Math.max(from, to) + 1)];
  };
  const renderBox = (label: string, users: readonly string[]) => (
    <input
      type="checkbox"
      aria-label={label}
      title="Shift-click selects a range"
      checked={users.length > 0 && users.every((id) => isAll || ids.has(id))}
      onClick={({ shiftKey, currentTarget: { checked } }) =>
        select(shiftKey ? users.flatMap(listRange) : users, checked)
      }
    />
  );
  return {
    name: 'select',
    title: 'Selection',
    header: renderBox('Select this page', shown),
    cell: (user) => renderBox(`Select ${getDisplayName(user)}`, [user.uuid]),
  };
}

interface BulkAction {
  label: string;
  /** Field of the dialog, if the action needs a value. */
  field?: 'role' | 'manager_uuid' | 'dataset';
  toChange: (value: string) => BulkChange['change'];
}

const ACTIONS: readonly BulkAction[] = [
  { label: 'Block', toChange: () => ({ status: 'Blocked' }) },
  { label: 'Reactivate', toChange: () => ({ status: 'Active' }) },
  { label: 'Add role', field: 'role', toChange: (role) => ({ add_roles: [role] }) },
  { label: 'Remove role', field: 'role', toChange: (role) => ({ remove_roles: [role] }) },
  { label: 'Set manager', field: 'manager_uuid', toChange: (manager) => ({ manager_uuid: manager }) },
  { label: 'Set data set', field: 'dataset', toChange: (dataset) => ({ dataset }) },
  { label: 'Delete', toChange: () => ({ delete: true }) },
];

interface BarProps {
  selection: Selection;
  page: ListPage<User> | undefined;
  /** Conditions that all users in the list meet. */
  filters: Filters;
  onChange: SetSelection;
}

/** Shows the number of selected users and the actions for them. */
export function SelectionBar({ selection, page, filters, onChange }: BarProps) {
  const [open, setOpen] = useState<BulkAction>();
  const { ids, isAll } = selection;
  const { rows = [], count = 0 } = page ?? {};
  const hidden = ids.size - rows.filter(({ uuid }) => ids.has(uuid)).length;
  const selected = isAll ? count : ids.size;
  const conditions = isAll ? filters : { uuid: [...ids] };
  if (selected === 0) return null;
  return (
    <div class="note info buttons selection" role="group" aria-label="Selected users">
      <span role="status">
        {formatCount(selected, 'user')} selected{!isAll && hidden > 0 && `, ${hidden} not on this page`}
      </span>
      {!isAll && count > ids.size - hidden && (
        <Button
          text={`Select all ${formatCount(count, 'user')} that match`}
          onClick={() => onChange({ ids, isAll: true })}
        />
      )}
      <Button text="Clear selection" onClick={() => onChange(NO_SELECTION)} />
      {ACTIONS.map((action) => (
        <Button text={action.label} key={action.label} onClick={() => setOpen(action)} />
      ))}
      {isAll || ids.size <= MAX_EXPORTED ? (
        <LinkButton text="Export selection" href={getExportUrl(conditions)} download />
      ) : (
        <span>Only {MAX_EXPORTED} selected users, or all that match, can be exported.</span>
      )}
      {open && (
        <BulkDialog
          action={open}
          title={`${open.label}: ${formatCount(selected, 'selected user')}`}
          users={isAll ? { where: filters } : { uuids: [...ids] }}
          onClose={() => setOpen(undefined)}
        />
      )}
    </div>
  );
}

interface BulkDialogProps {
  action: BulkAction;
  title: string;
  users: Pick<BulkChange, 'where' | 'uuids'>;
  onClose: () => void;
}

/** Asks for the value and the reason of a bulk change, and shows its plan on the page of its run. */
function BulkDialog({ action: { field, toChange }, title, users, onClose }: BulkDialogProps) {
  const roles = useRoles();
  const [chosen, setChosen] = useState<string>();
  const [isPrivileged, setPrivileged] = useState(false);
  const value = chosen ?? (field === 'role' ? (roles[0] ?? '') : '');
  const plan = async (reason: string): Promise<void> => {
    const options = { reason, dry_run: true, allow_privileged: isPrivileged };
    const run = await changeUsers({ ...users, change: toChange(value), ...options });
    navigate(toHref(`/imports/${run}`));
  };
  return (
    <Confirm title={title} confirmLabel="Show the plan" work={plan} onClose={onClose} isReasonRequired>
      <p>
        The plan is shown first, with the users who will change and who will not. Nothing changes until you
        apply it, and it can be reverted later.
        {toChange('').delete &&
          ` Deleted users can be restored for ${formatCount(serviceInfo.get().deleted_days, 'day')}. Direct reports lose their manager until a revert.`}
      </p>
      {field === 'role' && (
        <SelectField name="role" value={value} choices={toChoices(roles)} onValue={setChosen} />
      )}
      {field === 'manager_uuid' && <ManagerField name="manager_uuid" value={value} onValue={setChosen} />}
      {field === 'dataset' && (
        <TextField
          name="dataset"
          label="Data set"
          hint="Leave empty to release the users from their data set."
          value={value}
          onValue={setChosen}
          input={{ maxLength: 64, autocomplete: 'off' }}
        />
      )}
      <CheckField
        name="allow_privileged"
        label="Include Webmasters (if not selected, Webmasters stay unchanged and the role Webmaster cannot be added)"
        value={isPrivileged}
        onValue={setPrivileged}
      />
    </Confirm>
  );
}
