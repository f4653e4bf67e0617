/** A proposal that one click accepts, with an example of its effect. */
export const Offer = (props: { text: string; example?: string; isChosen?: boolean; onPick: () => void }) => (
  <button type="button" class="offer" aria-pressed={props.isChosen ?? false} onClick={props.onPick}>
    <strong>{props.text}</strong>
    <span class="muted">{props.example}</span>
  </button>
);
