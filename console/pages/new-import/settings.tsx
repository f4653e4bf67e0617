import type { Options } from '../../api/upload.js';
import { SelectField, TextField } from '../../parts/field.js';

const ENCODINGS = [
  'utf-8',
  'windows-1252',
  'iso-8859-1',
  'iso-8859-15',
  'windows-1250',
  'windows-1251',
  'utf-16le',
];
const DELIMITERS = [
  { value: '', text: 'Found from the header' },
  { value: ',', text: 'Comma' },
  { value: ';', text: 'Semicolon' },
  { value: 'tab', text: 'Tab' },
  { value: '|', text: 'Bar |' },
];

interface SettingsProps {
  options: Options;
  /** Names of the saved profiles. */
  profiles: readonly string[];
  onOption: (name: string, value: string) => void;
}

/** How the file is read, and what it is for. */
export function Settings({ options, profiles, onOption }: SettingsProps) {
  const select = (
    name: string,
    label: string,
    choices: readonly { value: string; text: string }[],
    hint = '',
  ) => (
    <SelectField
      name={name}
      label={label}
      hint={hint}
      value={options[name] ?? ''}
      choices={choices}
      onValue={(value) => {
        onOption(name, value);
      }}
    />
  );
  return (
    <div class="form-grid">
      {select('profile', 'Profile', [
        { value: '', text: 'None' },
        ...profiles.map((name) => ({ value: name, text: name })),
      ])}
      <TextField
        name="dataset"
        label="Data set"
        hint="The source that the file comes from."
        value={options['dataset'] ?? ''}
        onValue={(value) => {
          onOption('dataset', value);
        }}
        input={{ placeholder: 'default', maxLength: 64 }}
      />
      {select('missing', 'Users that the file lacks', [
        { value: '', text: 'As the profile says' },
        { value: 'keep', text: 'Left alone' },
        { value: 'report', text: 'Listed' },
        { value: 'block', text: 'Blocked' },
      ])}
      {select('mode', 'Rows', [
        { value: '', text: 'Create and update' },
        { value: 'create_only', text: 'Create only' },
        { value: 'update_only', text: 'Update only' },
      ])}
      {select('encoding', 'Encoding', [
        { value: '', text: 'UTF-8, or by its mark' },
        ...ENCODINGS.map((name) => ({ value: name, text: name })),
      ])}
      {select('delimiter', 'Delimiter', DELIMITERS)}
    </div>
  );
}
