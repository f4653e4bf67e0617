import { Icon } from './icon.js';
import { showToast } from './toast.js';

/** Shows a text with a copy button. Without clipboard permission, the button selects the text instead. */
export function Copy({ text, what }: { text: string; what: string }) {
  const copy = async (shown: Element | null): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      showToast(`Copied the ${what}.`);
    } catch {
      if (shown) getSelection()?.selectAllChildren(shown);
    }
  };
  return (
    <span class="copy">
      <code>{text}</code>
      <button
        type="button"
        class="bare"
        aria-label={`Copy ${what}`}
        title={`Copy ${what}`}
        onClick={(event) => void copy(event.currentTarget.previousElementSibling)}
      >
        <Icon name="copy" />
      </button>
    </span>
  );
}
