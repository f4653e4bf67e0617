import { type AriaAttributes, type ComponentChildren, type InputHTMLAttributes, createContext } from 'preact';
import { useContext, useId, useState } from 'preact/hooks';
import type { User } from '../api/client.js';
import { useRoles } from '../api/roles.js';
import { getLabel } from '../lib/text.js';

/** Returns the error of a field of the form around it. */
export const FieldErrors = createContext((_field: string): string => '');

interface FieldProps {
  name: string;
  label?: string;
  /** Error text. Empty for a valid value. By default, the error of the form. */
  error?: string | undefined;
  hint?: string;
}

/** Attributes that connect an input with its label, hint and error. */
type InputAttributes = Pick<AriaAttributes, 'aria-invalid' | 'aria-describedby'> & {
  id: string;
  name: string;
};

/** Shows the label, hint and error of an input, and passes the attributes to it that refer to them. */
export function LabelledField(
  props: FieldProps & { children: (attributes: InputAttributes) => ComponentChildren },
) {
  const { name, label = getLabel(name), hint, children } = props;
  const formError = useContext(FieldErrors)(name);
  const { error = formError } = props;
  const id = useId();
  const notes = [...(hint ? [`${id}-hint`] : []), ...(error ? [`${id}-error`] : [])];
  return (
    <div class={`field${error ? ' wrong' : ''}`}>
      <label for={id}>{label}</label>
      {children({
        id,
        name,
        'aria-invalid': error ? true : undefined,
        'aria-describedby': notes.join(' ') || undefined,
      })}
      {hint && (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} class="error">
          {getLabel(name)} {error}.
        </p>
      )}
    </div>
  );
}

export interface TextProps extends FieldProps {
  value: string;
  onValue: (value: string) => void;
}

/** A single-line text input. A password can be shown. */
export function TextField({ value, onValue, input, ...field }: TextProps & { input?: InputHTMLAttributes }) {
  const [isShown, setShown] = useState(false);
  const { name, label = getLabel(name) } = field;
  return (
    <LabelledField {...field}>
      {(attributes) => (
        <>
          <input
            {...({ type: 'text', ...input, ...(isShown && { type: 'text' }) } as InputHTMLAttributes)} // TypeScript cannot narrow the type of the input
            {...attributes}
            value={value}
            onInput={(event) => onValue(event.currentTarget.value)}
          />
          {input?.type === 'password' && (
            <CheckField
              name={`show_${name}`}
              label={`Show ${label.toLowerCase()}`}
              value={isShown}
              onValue={setShown}
            />
          )}
        </>
      )}
    </LabelledField>
  );
}

/** Gives password managers the name of the user without showing it. */
export const HiddenUsername = ({ user }: { user: User }) => (
  <input
    type="text"
    name="username"
    class="hidden"
    autocomplete="username"
    value={user.username}
    readOnly
    aria-hidden="true"
    tabIndex={-1}
  />
);

/** A multi-line text input. */
export const LongField = ({ value, onValue, rows = 4, ...field }: TextProps & { rows?: number }) => (
  <LabelledField {...field}>
    {(attributes) => (
      <textarea
        {...attributes}
        rows={rows}
        value={value}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
    )}
  </LabelledField>
);

interface CheckProps {
  name: string;
  label?: ComponentChildren;
  value: boolean;
  isDisabled?: boolean;
  onValue: (value: boolean) => void;
}

export const CheckField = ({ name, label = getLabel(name), value, isDisabled, onValue }: CheckProps) => (
  <label class="check">
    <input
      type="checkbox"
      name={name}
      checked={value}
      disabled={isDisabled}
      onChange={(event) => onValue(event.currentTarget.checked)}
    />
    {label}
  </label>
);

/** Returns a list with a value at its end, or without the value. */
export const toggle = (list: readonly string[], value: string, isIncluded: boolean): string[] => [
  ...list.filter((each) => each !== value),
  ...(isIncluded ? [value] : []),
];

interface RoleProps {
  /** Chosen roles, which are shown even before the service has responded. */
  chosen: readonly string[];
  onChange: (roles: string[]) => void;
}

/** Checkboxes for all roles of the service. */
export const RoleFields = ({ chosen, onChange }: RoleProps) => (
  <div class="checks">
    {useRoles(chosen).map((role) => (
      <CheckField
        key={role}
        name="roles"
        label={role}
        value={chosen.includes(role)}
        onValue={(isChosen) => onChange(toggle(chosen, role, isChosen))}
      />
    ))}
  </div>
);

export interface Choice {
  value: string;
  text: string;
}

interface SelectProps {
  value: string;
  choices: readonly Choice[];
  onValue: (value: string) => void;
}

/** A select input. */
export const SelectField = ({ value, choices, onValue, ...field }: FieldProps & SelectProps) => (
  <LabelledField {...field}>
    {(attributes) => (
      <select {...attributes} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
        <Options choices={choices} />
      </select>
    )}
  </LabelledField>
);

/** A select input in a table or a row of buttons, whose label is only for screen readers. */
export const Select = (props: SelectProps & { label: string; error?: string }) => (
  <>
    <select
      class="compact"
      aria-label={props.label}
      value={props.value}
      onChange={(event) => props.onValue(event.currentTarget.value)}
    >
      <Options choices={props.choices} />
    </select>
    {props.error && <p class="error">{props.error}.</p>}
  </>
);

/** A select input for an action: a choice runs `onPick`, and the input shows its text again. */
export const Pick = (props: {
  label: string;
  text: string;
  choices: readonly string[];
  onPick: (choice: string) => void;
}) => (
  <Select
    label={props.label}
    value=""
    choices={[{ value: '', text: props.text }, ...toChoices(props.choices)]}
    onValue={props.onPick}
  />
);

/** Choice of a filter that matches everything. */
export const ANY: Choice = { value: '', text: 'Any' };

/** Converts values to choices. Without `format`, the text of a choice is its value. */
export const toChoices = (values: readonly string[], format = (value: string): string => value): Choice[] =>
  values.map((value) => ({ value, text: format(value) }));

const Options = ({ choices }: { choices: readonly Choice[] }) =>
  choices.map(({ value, text }) => (
    <option key={value} value={value}>
      {text}
    </option>
  ));
