import { createHash } from 'node:crypto';

/** Style of the pages, with the colours and fonts of the console (`console/style`). */
const STYLE =
  ':root{color-scheme:light dark;--line:light-dark(#e2e6ec,#2a313d);--accent:light-dark(#364fc7,#9db2ff)}' +
  'body{margin:0;font:1rem/1.6 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;background:light-dark(#f6f7f9,#0f1217);' +
  'color:light-dark(#1a202c,#e7eaf0)}a{color:var(--accent)}header,main{padding:.8rem max(1rem,50vw - 24rem)}' +
  'header{display:flex;flex-wrap:wrap;gap:.4rem 1.2rem;align-items:baseline;background:light-dark(#fff,#171b22);' +
  'border-bottom:1px solid var(--line)}header a{color:light-dark(#566071,#a1abba);text-decoration:none}' +
  'header a:first-child{margin-right:auto;font-weight:700;color:inherit}header a:hover{text-decoration:underline}' +
  'h1,h2,h3{line-height:1.25;letter-spacing:-.015em}h1{font-size:1.7rem}h2{margin-top:2.2rem;font-size:1.25rem}' +
  'code,pre{font:.92em/1.5 ui-monospace,"SF Mono",Menlo,Consolas,monospace;overflow-wrap:anywhere}li{margin:.3rem 0}' +
  'pre,table{display:block;overflow-x:auto;font-size:.9rem}pre{padding:.8rem;border:1px solid var(--line);border-radius:8px}' +
  'th,td{padding:.4rem .8rem .4rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}';

/** Content-Security-Policy of an HTML page. It allows only the inline style of the page. */
export const PAGE_POLICY =
  `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; ` +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Renders a complete HTML page. Send it with `PAGE_POLICY`. @param body trusted HTML. */
export const renderPage = (title: string, body: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><style>${STYLE}</style></head>
<body><header><a href="/">Rollcall</a><a href="/guides">Guides</a><a href="/docs">API documentation</a></header>
<main>${body}</main></body></html>
`;
