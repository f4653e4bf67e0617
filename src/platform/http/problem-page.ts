import type { Request, Response } from 'express';
import { CATALOGUE, type ProblemError } from '../common/errors.js';
import { withoutSecrets } from '../common/mask-secrets.js';
import { PAGE_POLICY, markup, htmlPage, prose } from './html-page.js';
import type { Problem } from './problem.js';

const JSON_FORMS = ['application/problem+json', 'application/json'];

/** Whether the client would rather have a page: a browser that shows an address does, one that runs a script does not. */
export function asksForPage(request: Request): boolean {
  return request.accepts([...JSON_FORMS, 'text/html']) === 'text/html';
}

/** A problem for people: what it is, what to do about it, and the request id to ask with. */
export function sendProblemPage(response: Response, { code }: ProblemError, problem: Problem): void {
  const { title, detail, status, type, errors = [], request_id: id } = problem;
  const faults = errors.map(({ field, message }) => markup`<li><code>${field}</code> ${message}</li>`);
  const body = markup`<h1>${title}</h1><p>${detail}</p>
${faults.length > 0 ? markup`<ul>${faults}</ul>` : ''}
<p>${prose(CATALOGUE[code].remedy)}</p>
<p>HTTP status ${status}, <a href="${type}"><code>${code}</code></a>, request <code>${id}</code></p>
<p><a href="/">Rollcall</a></p>`;
  const page = withoutSecrets(htmlPage(title, body));
  response.type('html').set('Content-Security-Policy', PAGE_POLICY).send(page);
}
