import escapeHtml from 'escape-html';
import { createHash } from 'node:crypto';

const STYLE =
  ':root{color-scheme:light dark}body{font:1.1rem/1.6 system-ui,sans-serif;max-width:42rem;margin:4rem auto;padding:0 1rem}' +
  'code{overflow-wrap:anywhere}li{margin:.3rem 0}pre,table{display:block;overflow-x:auto;font-size:.9rem}' +
  'th,td{padding:.3rem .8rem .3rem 0;text-align:left;vertical-align:top;border-bottom:1px solid #8884}';

/** Content-Security-Policy of an HTML page. It allows only the inline style of the page. */
export const PAGE_POLICY =
  `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; ` +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Trusted HTML markup, created by the tag `toHtml`. */
export class Html {
  constructor(readonly markup: string) {}
}

type Part = string | number | Html | readonly Html[];

/** Template tag that builds HTML markup. Interpolated text is escaped, so client input cannot inject markup. */
export function toHtml(template: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(template.reduce((whole, next, at) => `${whole}${escapePart(parts[at - 1] ?? '')}${next}`));
}

function escapePart(part: Part): string {
  if (part instanceof Html) return part.markup;
  if (typeof part === 'object') return part.map((each) => each.markup).join('');
  return escapeHtml(String(part));
}

/** Renders trusted text as HTML. Backquotes mark code, as in Markdown. */
export function renderInlineCode(text: string): Html {
  const parts = text.split('`').map((part, at) => (at % 2 ? toHtml`<code>${part}</code>` : toHtml`${part}`));
  return toHtml`${parts}`;
}

/** Renders a complete HTML page. Send it with `PAGE_POLICY`. */
export function renderPage(title: string, body: Html): string {
  return toHtml`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><style>${new Html(STYLE)}</style></head>
<body>${body}</body></html>
`.markup;
}
