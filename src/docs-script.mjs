// Beside Swagger UI, in the browser: keeps an entered API key for the tab, and says who is logged in.
const KEPT = 'rollcall.api_key';
const SCHEME = { type: 'apiKey', in: 'header', name: 'X-API-Key' };
const ME = '/api/0.3/users/me';

const line = document.createElement('p');
line.id = 'who';
line.setAttribute('role', 'status');
document.body.prepend(line);

/** The public id of a key, which is no secret. */
const idOf = (key) => /^rollcall_([0-9a-f]+)_/.exec(key)?.[1] ?? '';

async function session() {
  const answer = await ask(ME, { credentials: 'same-origin' });
  return answer.ok ? (await answer.json()).username : undefined;
}

async function tell(key) {
  const username = await session();
  const person = username === undefined ? '' : `logged in as ${username}`;
  if (key === undefined)
    line.textContent =
      person === ''
        ? 'Nobody is logged in: authorize with an API key, or log in below.'
        : `You are ${person}.`;
  else
    line.textContent =
      `Requests use the API key ${idOf(key)}${person === '' ? '' : `, which goes before the session: you are ${person}`}.`.replace(
        '  ',
        ' ',
      );
}

/** A login or logout in the page changes who that is. */
const ask = window.fetch.bind(window);
window.fetch = async (...request) => {
  const answer = await ask(...request);
  if (answer.url.includes('/sessions')) void tell(sessionStorage.getItem(KEPT) ?? undefined);
  return answer;
};

window.addEventListener('load', () => {
  const { ui } = window;
  const kept = sessionStorage.getItem(KEPT) ?? undefined;
  if (kept !== undefined)
    ui.authActions.authorize({ api_key: { name: 'api_key', schema: SCHEME, value: kept } });
  let current = kept;
  ui.getStore().subscribe(() => {
    const key = ui.authSelectors.authorized()?.getIn(['api_key', 'value']);
    if (key === current) return;
    current = key;
    if (key === undefined) sessionStorage.removeItem(KEPT);
    else sessionStorage.setItem(KEPT, key);
    void tell(key);
  });
  void tell(current);
});
