import type { ComponentChildren } from 'preact';
import type { Action } from '../api/resource.js';
import { focusError } from '../lib/focus.js';
import { Button } from './button.js';
import { FieldErrors } from './field.js';
import { ProblemNote } from './problem-note.js';

interface FormProps {
  action: Action;
  work: () => Promise<void>;
  children: ComponentChildren;
  /** Label of the submit button. */
  submitLabel: string;
  cancelLabel?: string;
  /** Missing for a form that is always open. */
  onCancel?: () => void;
  /** Fields that show their errors themselves. */
  fields?: readonly string[];
  isDangerous?: boolean;
  isDisabled?: boolean;
  /** True if Cancel has the initial focus. */
  isCautious?: boolean;
}

/** A form with the problem of its action, and buttons to submit and to cancel. */
export function Form(props: FormProps) {
  const { action, work, children, submitLabel, cancelLabel = 'Cancel', onCancel, fields = [] } = props;
  const { isDangerous = false, isDisabled = false, isCautious = false } = props;
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        const form = event.currentTarget;
        void action.run(work).then((isDone) => isDone || focusError(form));
      }}
    >
      <FieldErrors.Provider
        value={(name) => (fields.includes(name) && action.problem?.getFieldError(name)) || ''}
      >
        {children}
      </FieldErrors.Provider>
      <ProblemNote problem={action.problem} fields={fields} />
      <div class="buttons end">
        {onCancel && <Button text={cancelLabel} isFocused={isCautious} onClick={onCancel} />}
        <button
          type="submit"
          class={isDangerous ? 'danger' : 'primary'}
          disabled={isDisabled}
          aria-disabled={action.isBusy}
        >
          {submitLabel}
        </button>
      </div>
    </form>
  );
}
