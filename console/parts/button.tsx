import { Icon, type IconName } from './icon.js';

interface ButtonProps {
  text: string;
  onClick: () => void;
  icon?: IconName;
  kind?: 'primary' | 'danger' | 'bare' | undefined;
  isDisabled?: boolean;
  /** True if the button does nothing for now. It keeps the focus, unlike a disabled button. */
  isBusy?: boolean;
  /** True if the button has the initial focus in a dialog. */
  isFocused?: boolean;
  /** Id of a text that explains the button. */
  describedBy?: string;
}

export const Button = (props: ButtonProps) => (
  <button
    type="button"
    class={props.kind}
    disabled={props.isDisabled}
    aria-disabled={props.isBusy}
    aria-describedby={props.describedBy}
    autofocus={props.isFocused}
    onClick={props.onClick}
  >
    {props.icon && <Icon name={props.icon} />}
    {props.text}
  </button>
);

interface LinkProps {
  text: string;
  href: string;
  isPrimary?: boolean;
  /** True if the link downloads a file, or the file name if the page has created the file. */
  download?: boolean | string;
  title?: string;
}

/** A link with the look of a button. */
export const LinkButton = ({ text, href, isPrimary = false, download, title }: LinkProps) => (
  <a class={`button${isPrimary ? ' primary' : ''}`} href={href} download={download} title={title}>
    {text}
  </a>
);
