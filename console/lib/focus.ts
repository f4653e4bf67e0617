/** Moves the focus to the first invalid field of a form, or scrolls to the problem of the form, after the next rendering. */
export function focusError(form: HTMLFormElement): void {
  requestAnimationFrame(() => {
    const error = form.querySelector<HTMLElement>('.wrong :is(input, select, textarea), [role=alert]');
    error?.focus();
    error?.scrollIntoView({ block: 'nearest' });
  });
}

/** Moves the focus to the page title after the focused element was removed, so that keyboard users keep their position. */
export function focusTitle(): void {
  document.querySelector('h1')?.focus({ preventScroll: true });
}
