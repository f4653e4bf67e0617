import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { useAction } from '../api/resource.js';
import { TextField } from './field.js';
import { ProblemNote } from './problem-note.js';

interface DialogProps {
  title: string;
  children: ComponentChildren;
  onClose: () => void;
  isWide?: boolean;
}

/** A question above the page. Escape closes it, and the browser keeps the focus in it and gives it back. */
export function Dialog({ title, children, onClose, isWide = false }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  return (
    <dialog ref={dialog} class={isWide ? 'wide' : ''} aria-labelledby={id} onClose={onClose}>
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
  const confirm = async (): Promise<void> => {
    if (await action.run(() => work(reason))) onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
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
            Keep as it is
          </button>
          <button type="submit" class={isDangerous ? 'danger' : 'primary'} disabled={action.isBusy}>
            {verb}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
