/** Shows the favicon as a logo. */
export const Logo = () => (
  <img
    src={document.querySelector<HTMLLinkElement>('link[rel=icon]')?.href ?? ''}
    alt=""
    width="26"
    height="26"
  />
);
