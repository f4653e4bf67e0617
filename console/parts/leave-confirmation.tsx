import { useStore } from '../lib/store.js';
import { pendingNavigation } from '../lib/unsaved.js';
import { Button } from './button.js';
import { Dialog } from './dialog.js';

/** Asks for confirmation before a page with unsaved changes is left. */
export function LeaveConfirmation() {
  const work = useStore(pendingNavigation);
  if (!work) return null;
  const close = (): void => pendingNavigation.set(undefined);
  return (
    <Dialog title="Leave without saving?" onClose={close}>
      <p>This page has unsaved changes. If you leave, they will be lost.</p>
      <div class="buttons end">
        <Button text="Stay" isFocused onClick={close} />
        <Button
          text="Leave"
          kind="danger"
          onClick={() => {
            close();
            work();
          }}
        />
      </div>
    </Dialog>
  );
}
