import type { Options } from '../../api/upload.js';
import { VALUES, getOptionName } from '../../api/options.js';
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
interface ImportOptionsProps {
  options: Options;
  /** Names of the saved profiles. */
  profiles: readonly string[];
  onOption: (name: string, value: string) => void;
}

/** The options of the import. */
export function ImportOptions({ options, profiles, onOption }: ImportOptionsProps) {
  const renderSelect = (
    name: string,
    first: string,
    choices: readonly (readonly [value: string, text: string])[],
  ) => (
    <SelectField
      name={name}
      label={getOptionName(name)}
      value={options[name] ?? ''}
      choices={[{ value: '', text: first }, ...choices.map(([value, text]) => ({ value, text }))]}
      onValue={(value) => {
        onOption(name, value);
      }}
    />
  );
  const hasProfile = Boolean(options['profile']);
  const toChoice = (name: string) => [name, name] as const;
  return (
    <div class="form-grid">
      {renderSelect('profile', 'None', profiles.map(toChoice))}
      <TextField
        name="dataset"
        label={getOptionName('dataset')}
        hint="The source of the file."
        value={options['dataset'] ?? ''}
        onValue={(value) => {
          onOption('dataset', value);
        }}
        input={{ placeholder: 'default', maxLength: 64 }}
      />
      {renderSelect(
        'missing',
        hasProfile ? 'From the profile' : 'Ignored (default)',
        Object.entries(VALUES.missing),
      )}
      {renderSelect(
        'mode',
        hasProfile ? 'From the profile' : 'Create and update (default)',
        Object.entries(VALUES.mode),
      )}
      {renderSelect('encoding', 'UTF-8, or detected from the byte order mark', ENCODINGS.map(toChoice))}
      {renderSelect('delimiter', 'Detected from the header', Object.entries(VALUES.delimiter))}
    </div>
  );
}
