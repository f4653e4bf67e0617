import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useAction } from '../api/resource.js';
import { focusTitle } from '../lib/focus.js';
import { TextField } from './field.js';
import { ProblemNote } from './problem-note.js';

interface DialogProps {
  title: string;
  children: ComponentChildren;
  onClose: () => void;
  isWide?: boolean;
  /** True after the work is done. The focus then moves to the page title, because the opening button may be gone. */
  isDone?: { readonly current: boolean };
  /** True if only the buttons of the dialog close it, because its content would be lost. */
  isPersistent?: boolean;
  /** True if the dialog covers the page completely. */
  hidesPage?: boolean;
}

/** A modal dialog. Escape closes it, and the focus then returns to the element that opened it. */
export function Dialog(props: DialogProps) {
  const { title, children, onClose, isWide = false, isDone, isPersistent = false, hidesPage = false } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    // Opened before the next frame, so that no key press is lost.
    const opener = document.activeElement;
    const own = dialog.current;
    own?.showModal();
    return () => {
      own?.close(); // an open dialog would prevent the focus change below
      if (isDone?.current) focusTitle();
      else if (opener instanceof HTMLElement) opener.focus();
    };
  }, [isDone]);
  return (
    <dialog
      ref={dialog}
      class={`${isWide ? 'wide' : ''}${hidesPage ? ' covering' : ''}`}
      {...(isPersistent && { closedby: 'none' })} // otherwise a second Escape closes it
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault(); // the parent closes the dialog by no longer rendering it
        if (!isPersistent) onClose();
      }}
      onClose={() => {
        if (dialog.current) onClose();
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

interface DialogButtonProps {
  label: string;
  isPrimary?: boolean;
  /** Renders the open dialog. */
  children: (close: () => void) => ComponentChildren;
}

/** A button that opens a dialog. */
export function DialogButton({ label, isPrimary = false, children }: DialogButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" class={isPrimary ? 'primary' : ''} onClick={() => setOpen(true)}>
        {label}
      </button>
      {isOpen && children(() => setOpen(false))}
    </>
  );
}

const MAX_REASON = 500;

interface ConfirmProps {
  title: string;
  /** Text about the effect of the action and the number of affected users. */
  children: ComponentChildren;
  /** Label of the confirm button. */
  confirmLabel: string;
  isDangerous?: boolean;
  isReasonRequired?: boolean;
  /** Text that the user must type, for actions that are hard to undo. */
  typed?: string | undefined;
  /** Runs the action. @param reason reason for the audit, may be empty. */
  work: (reason: string) => Promise<void>;
  onClose: () => void;
}

/** Asks for confirmation and a reason, runs the action and shows its problem. Cancel has the initial focus. */
export function Confirm(props: ConfirmProps) {
  const {
    title,
    children,
    confirmLabel,
    isDangerous = false,
    isReasonRequired = false,
    typed,
    work,
    onClose,
  } = props;
  const [entered, setEntered] = useState('');
  const action = useAction();
  const [reason, setReason] = useState('');
  const isDone = useRef(false);
  const confirm = async (): Promise<void> => {
    if (!(await action.run(() => work(reason)))) return;
    isDone.current = true;
    onClose();
  };
  return (
    <Dialog title={title} onClose={onClose} isDone={isDone}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void confirm();
        }}
      >
        {children}
        <TextField
          name="reason"
          label={isReasonRequired ? 'Reason' : 'Reason (optional)'}
          hint="Recorded in the audit log."
          value={reason}
          onValue={setReason}
          input={{ maxLength: MAX_REASON, autocomplete: 'off', required: isReasonRequired }}
        />
        {typed !== undefined && (
          <TextField
            name="typed"
            label={`Type ${typed} to confirm`}
            value={entered}
            onValue={setEntered}
            input={{ autocomplete: 'off', spellcheck: false, required: true }}
          />
        )}
        <ProblemNote problem={action.problem} />
        <div class="buttons end">
          <button type="button" autofocus onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            disabled={typed !== undefined && entered.trim() !== typed}
            class={isDangerous ? 'danger' : 'primary'}
            aria-disabled={action.isBusy}
          >
            {confirmLabel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
