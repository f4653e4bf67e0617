import { VALUES, formatOptionValue, getOptionName } from '../../api/options.js';
import { CheckField, RoleFields, SelectField, TextField, toChoices } from '../../parts/field.js';
import { type Draft, type Editing, SOURCE_MEMBERS, listSources, toText } from './draft.js';

type Name = keyof Draft;
type Texts = Readonly<Record<string, string>>;

const HINTS: Texts = {
  part: 'Set if the data set comes in several files.',
  pattern: 'Files in the drop folder use this profile if their name matches, such as staff-*.csv.',
  strip_prefix: 'One character that is removed from the start of every cell.',
  skip_lines: 'Text above the header, such as a title.',
  skip_last_lines: 'Text below the last row, such as a total.',
  date_format: 'As in the file, such as DD.MM.YYYY. Default: YYYY-MM-DD.',
};
const ENCODINGS = 'utf-8, windows-1252, iso-8859-1, iso-8859-15, windows-1250, windows-1251, utf-16le'.split(
  ', ',
);
const CHECKS: readonly string[] = ['ignore_unknown_columns', 'allow_privileged'];
const READING: readonly string[] = ['encoding', 'delimiter'];

/** Fields of settings. A setting that differs from the saved profile is marked. */
export const SettingFields = ({ names, editing }: { names: readonly Name[]; editing: Editing }) => (
  <div class="form-grid">
    {names.map((name) => (
      <SettingField key={name} name={name} editing={editing} />
    ))}
  </div>
);

/** Returns the choices of a setting, or undefined if the setting accepts any text. */
function listChoices(name: Name, editing: Editing): Texts | undefined {
  const names =
    name === 'encoding' ? ENCODINGS : SOURCE_MEMBERS.includes(name) ? listSources(editing) : undefined;
  if (names) return Object.fromEntries(names.map((each) => [each, each]));
  return (VALUES as Partial<Record<string, Texts>>)[name];
}

function SettingField({ name, editing }: { name: Name; editing: Editing }) {
  const { draft, preview, saved, change, changeReading, getError } = editing;
  const value = toText(draft[name]);
  const old = saved && formatOptionValue(name, saved[name] ?? '');
  const isOverridden = old !== undefined && old !== formatOptionValue(name, draft[name] ?? '');
  const hint = isOverridden ? `Changed. Value in the profile: ${old || 'not set'}.` : HINTS[name];
  const label = getOptionName(name);
  const set = (next: string | boolean): void => {
    const isNumber = /^skip_/.test(name) && /^\d+$/.test(String(next));
    const [cell = ''] = preview?.columns.find(({ source }) => source === next)?.samples ?? [];
    const hasDots = /^active_/.test(name) && /^\d\d?\.\d\d?\.\d{4}$/.test(cell);
    (READING.includes(name) ? changeReading : change)({
      [name]: isNumber ? Number(next) : next,
      ...(hasDots && { date_format: 'D.M.YYYY' }),
    });
  };
  if (CHECKS.includes(name))
    return <CheckField name={name} label={label} value={value === 'true'} onValue={set} />;
  const field = { name, label, value, onValue: set, error: getError(name), ...(hint && { hint }) };
  const choices = listChoices(name, editing);
  if (!choices) return <TextField {...field} input={{ maxLength: 255, autocomplete: 'off' }} />;
  const texts: Texts = { ...(value && { [value]: value }), ...choices };
  const usual = name in VALUES && name !== 'delimiter' ? Object.values(choices)[0] : undefined;
  return (
    <SelectField
      {...field}
      choices={[
        {
          value: '',
          text: usual
            ? `Default (${usual.toLowerCase()})`
            : READING.includes(name)
              ? 'Detected'
              : name === 'manager_key'
                ? 'ExternalId'
                : 'None',
        },
        ...toChoices(Object.keys(texts), (each) => texts[each] ?? each),
      ]}
    />
  );
}

/** Checkboxes for the roles of created users whose row has no roles. */
export const DefaultRoles = ({ editing: { draft, change } }: { editing: Editing }) => (
  <fieldset>
    <legend>Roles of new users without roles in the file (default: Organisational user)</legend>
    <RoleFields chosen={draft.default_roles ?? []} onChange={(roles) => change({ default_roles: roles })} />
  </fieldset>
);
