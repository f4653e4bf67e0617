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
  /** What was asked for is done: its button may go away, and the title of the page gets the focus. */
  isDone?: { readonly current: boolean };
  /** Nothing but its buttons closes it: what it shows would be lost. */
  isHeld?: boolean;
  /** Nobody is to read the page behind it. */
  isCovering?: boolean;
}

/** A question above the page. Escape closes it; the browser keeps the focus in it, and whoever opened it gets it back. */
export function Dialog(props: DialogProps) {
  const { title, children, onClose, isWide = false, isDone, isHeld = false, isCovering = false } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    // Not after the next frame: a key that is pressed until then would be lost.
    const opener = document.activeElement;
    const own = dialog.current;
    own?.showModal();
    return () => {
      own?.close(); // nothing outside can have the focus while it is open
      if (isDone?.current) focusTitle();
      else if (opener instanceof HTMLElement) opener.focus();
    };
  }, [isDone]);
  return (
    <dialog
      ref={dialog}
      class={`${isWide ? 'wide' : ''}${isCovering ? ' covering' : ''}`}
      {...(isHeld && { closedby: 'none' })} // a second Escape would close it all the same
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault(); // it is closed by being left out, at once
        if (!isHeld) onClose();
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

const MAX_REASON = 500;

interface ConfirmProps {
  title: string;
  /** What will happen, and to how many. */
  children: ComponentChildren;
  /** The verb on the button. */
  verb: string;
  isDangerous?: boolean;
  /** @param reason for the audit; empty where nothing was said. */
  work: (reason: string) => Promise<void>;
  onClose: () => void;
}

/** Asks before something is done, and why; does it, and shows what the service says against it. Enter alone keeps all as it is. */
export function Confirm({ title, children, verb, isDangerous = false, work, onClose }: ConfirmProps) {
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
          label="Reason (optional)"
          hint="Kept in the audit."
          value={reason}
          onValue={setReason}
          input={{ maxLength: MAX_REASON, autocomplete: 'off' }}
        />
        <ProblemNote problem={action.problem} />
        <div class="buttons end">
          <button type="button" autofocus onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class={isDangerous ? 'danger' : 'primary'} aria-disabled={action.isBusy}>
            {verb}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
