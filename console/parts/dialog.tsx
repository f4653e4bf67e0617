import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useAction } from '../api/resource.js';
import { focusTitle } from '../lib/focus.js';
import { Button } from './button.js';
import { Copy } from './copy.js';
import { TextField } from './field.js';
import { Form } from './form.js';
import { showToast } from './toast.js';

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

interface SecretProps {
  title: string;
  secret: string;
  /** Noun for the secret, such as "key". */
  what: string;
  children: ComponentChildren;
  onClose: () => void;
}

/** Shows a new secret once. Only the button closes the dialog. */
export const SecretDialog = ({ title, secret, what, children, onClose }: SecretProps) => (
  <Dialog title={title} onClose={onClose} isWide isPersistent>
    <p>{children}</p>
    <p>
      <Copy text={secret} what={what} />
    </p>
    <div class="buttons end">
      <Button text="I have copied it" kind="primary" isFocused onClick={onClose} />
    </div>
  </Dialog>
);

const MAX_REASON = 500;
/** Fields of confirmations that show their errors themselves. */
const FIELDS = ['reason', 'manager_uuid'];

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
  /** Message after the action. */
  successText?: string;
  onClose: () => void;
}

/** Asks for confirmation and a reason, runs the action and shows its problem. Cancel has the initial focus. */
export function Confirm(props: ConfirmProps) {
  const { title, children, confirmLabel, isDangerous = false, isReasonRequired = false } = props;
  const { typed, work, successText, onClose } = props;
  const [entered, setEntered] = useState('');
  const [reason, setReason] = useState('');
  const isDone = useRef(false);
  return (
    <Dialog title={title} onClose={onClose} isDone={isDone}>
      <Form
        action={useAction()}
        work={async () => {
          await work(reason);
          if (successText) showToast(successText);
          isDone.current = true;
          onClose();
        }}
        submitLabel={confirmLabel}
        onCancel={onClose}
        fields={FIELDS}
        isDangerous={isDangerous}
        isDisabled={typed !== undefined && entered.trim() !== typed}
        isCautious
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
      </Form>
    </Dialog>
  );
}

interface ConfirmButtonProps extends Omit<ConfirmProps, 'confirmLabel' | 'onClose'> {
  text: string;
  /** Label of the confirm button. By default, the text of the button. */
  confirmLabel?: string;
  /** Called when the confirmation closes. */
  onClose?: () => void;
  isPrimary?: boolean;
}

/** A button with a confirmation. */
export function ConfirmButton(props: ConfirmButtonProps) {
  const { text, confirmLabel = text, isPrimary = false, onClose, ...confirm } = props;
  const [isOpen, setOpen] = useState(false);
  const close = (): void => {
    setOpen(false);
    onClose?.();
  };
  return (
    <>
      <Button text={text} kind={isPrimary ? 'primary' : undefined} onClick={() => setOpen(true)} />
      {isOpen && <Confirm {...confirm} confirmLabel={confirmLabel} onClose={close} />}
    </>
  );
}
