import type { ComponentChildren, InputHTMLAttributes } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { User } from '../api/client.js';
import { getLabel } from '../lib/text.js';

interface FieldProps {
  name: string;
  label?: string;
  /** Error text of the service. Empty for a valid value. */
  error?: string | undefined;
  hint?: string;
}

/** Shows the label, hint and error of an input, and passes their ids to it. */
export function LabelledField(
  props: FieldProps & {
    children: (ids: { id: string; describedBy: string | undefined }) => ComponentChildren;
  },
) {
  const { name, label = getLabel(name), error, hint, children } = props;
  const id = useId();
  const notes = [...(hint ? [`${id}-hint`] : []), ...(error ? [`${id}-error`] : [])];
  return (
    <div class={`field${error ? ' wrong' : ''}`}>
      <label for={id}>{label}</label>
      {children({ id, describedBy: notes.join(' ') || undefined })}
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

interface Input {
  type?: 'text' | 'search' | 'password' | 'number';
  step?: 'any';
  autocomplete?: 'off' | 'username' | 'current-password' | 'new-password';
  required?: boolean;
  autofocus?: boolean;
  spellcheck?: boolean;
  maxLength?: number;
  placeholder?: string;
}

/** A single-line text input. A password can be shown. */
export function TextField(
  props: FieldProps & { value: string; onValue: (value: string) => void; input?: Input },
) {
  const { value, onValue, input, ...field } = props;
  const [isShown, setShown] = useState(false);
  const isPassword = input?.type === 'password';
  const { name, label = getLabel(name) } = field;
  return (
    <LabelledField {...field}>
      {({ id, describedBy }) => (
        <>
          <input
            {...({ type: 'text', ...input, ...(isShown && { type: 'text' }) } as InputHTMLAttributes)} // TypeScript cannot narrow the type of the input
            id={id}
            name={name}
            value={value}
            aria-invalid={field.error ? true : undefined}
            aria-describedby={describedBy}
            onInput={(event) => onValue(event.currentTarget.value)}
          />
          {isPassword && (
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
export function LongField(
  props: FieldProps & { value: string; onValue: (value: string) => void; rows?: number },
) {
  const { value, onValue, rows = 4, ...field } = props;
  return (
    <LabelledField {...field}>
      {({ id, describedBy }) => (
        <textarea
          id={id}
          name={field.name}
          rows={rows}
          value={value}
          aria-invalid={field.error ? true : undefined}
          aria-describedby={describedBy}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </LabelledField>
  );
}

export function CheckField(props: {
  name: string;
  label?: string;
  value: boolean;
  onValue: (value: boolean) => void;
}) {
  const { name, label = getLabel(name), value, onValue } = props;
  return (
    <label class="check">
      <input
        type="checkbox"
        name={name}
        checked={value}
        onChange={(event) => onValue(event.currentTarget.checked)}
      />
      {label}
    </label>
  );
}

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
    {({ id, describedBy }) => (
      <select
        id={id}
        name={field.name}
        value={value}
        aria-invalid={field.error ? true : undefined}
        aria-describedby={describedBy}
        onChange={(event) => onValue(event.currentTarget.value)}
      >
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

/** A select that acts on a choice at once, then shows its text again. */
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

/** Returns choices whose texts are their values, or the formatted values. */
export const toChoices = (values: readonly string[], format = (value: string): string => value): Choice[] =>
  values.map((value) => ({ value, text: format(value) }));

const Options = ({ choices }: { choices: readonly Choice[] }) =>
  choices.map(({ value, text }) => (
    <option key={value} value={value}>
      {text}
    </option>
  ));
