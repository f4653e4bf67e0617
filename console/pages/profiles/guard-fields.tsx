import { SelectField, TextField } from '../../parts/field.js';
import { formatCode } from '../../lib/text.js';
import { type Editing, setMember } from './draft.js';

type Limits = Readonly<Record<string, number>>;

/** Guards with their limits in the preset `normal`. */
const GUARDS: readonly (readonly [guard: string, limits: Limits])[] = [
  ['foreign_dataset', { rows: 5, percent: 10 }],
  ['old_file', { rows: 5, percent: 1 }],
  ['after_revert', { rows: 0 }],
  ['other_person', { rows: 3, percent: 0.5 }],
  ['slid_column', { rows: 5, percent: 0.5 }],
  ['shuffled_column', { rows: 8, percent: 1 }],
  ['exchanged_values', { rows: 3, percent: 1 }],
  ['unknown_word', { rows: 3, percent: 1 }],
  ['garbled_text', { rows: 5, percent: 10 }],
  ['changed_form', { rows: 3, percent: 1, email_rows: 8 }],
  ['lost_together', { rows: 10, percent: 2 }],
  ['deactivations', { rows: 5, percent: 10, cap_rows: 200, cap_percent: 2 }],
  ['reactivations', { rows: 5, percent: 2 }],
  ['created', { rows: 20, percent: 15 }],
  ['role_holders', { rows: 5, percent: 20 }],
  ['changed_logins_only', { rows: 5, percent: 2 }],
  ['changed_logins', { rows: 3, percent: 10 }],
  ['changed_managers', { rows: 10, percent: 10, all_rows: 30, all_percent: 30 }],
  ['changed_managers', { all_percent_under_400: 50, all_percent_under_100: 80 }],
  ['emptied_field', { rows: 5, percent: 10, login_percent: 2 }],
  ['changed_field', { rows: 5, percent: 20 }],
  ['errors', { rows: 4, percent: 10 }],
];

const PRESETS: Readonly<Record<string, readonly [text: string, factor: number]>> = {
  '': ['Default of the service', 1],
  strict: ['Strict: half of the limits', 0.5],
  normal: ['Normal', 1],
  relaxed: ['Relaxed: twice the limits', 2],
};

/** Shows the preset of the guards, and the single limits that override the preset. */
export function GuardFields({ editing: { draft, change, getError } }: { editing: Editing }) {
  const guards: Readonly<Record<string, string | Limits>> = { ...draft.guards };
  const preset = draft.guards?.preset ?? '';
  const set = (name: string, value: string | Limits | undefined): void =>
    change({ guards: setMember(guards, name, value) });
  const limitsOf = (guard: string): Limits => (typeof guards[guard] === 'object' ? guards[guard] : {});
  const setLimit = (guard: string, limit: string, text: string): void => {
    const limits = setMember(limitsOf(guard), limit, text === '' ? undefined : Number(text));
    set(guard, Object.keys(limits).length > 0 ? limits : undefined);
  };
  return (
    <>
      <SelectField
        name="preset"
        label="Guards"
        value={preset}
        error={getError('guards.preset')}
        choices={Object.entries(PRESETS).map(([value, [text]]) => ({ value, text }))}
        onValue={(value) => set('preset', value || undefined)}
      />
      <details>
        <summary>Individual guard limits</summary>
        {GUARDS.map(([guard, limits]) => (
          <fieldset key={guard + Object.keys(limits).join()}>
            <legend>{formatCode(guard)}</legend>
            <div class="form-grid">
              {Object.entries(limits).map(([limit, normal]) => (
                <TextField
                  key={limit}
                  name={limit}
                  hint={`Default: ${normal * (PRESETS[preset]?.[1] ?? 1)}`}
                  value={String(limitsOf(guard)[limit] ?? '')}
                  error={getError(`guards.${guard}.${limit}`)}
                  input={{ type: 'number', step: 'any' }}
                  onValue={(text) => setLimit(guard, limit, text)}
                />
              ))}
            </div>
          </fieldset>
        ))}
      </details>
    </>
  );
}
