// Runs next to Swagger UI in the browser. Stores an entered API key for the tab, and shows the credentials in
// use.
const KEPT = 'rollcall.api_key';
const SCHEME = { type: 'apiKey', in: 'header', name: 'X-API-Key' };
const ME = '/api/0.3/users/me';

const line = document.createElement('p');
line.id = 'who';
line.setAttribute('role', 'status');
document.body.prepend(line);

const ask = window.fetch.bind(window);
/** Number of the latest status request. Responses to earlier requests are ignored. */
let asked = 0;

async function tell(key) {
  const mine = ++asked;
  const [session, refusal] = await Promise.all([ask(ME, { credentials: 'same-origin' }), refusalOf(key)]);
  const person = session.ok ? (await session.json()).username : undefined;
  if (mine === asked) line.textContent = sentence(key, refusal, person);
}

/**
 * Returns the reason why the service rejects a key: it is invalid, or not permitted in this network. A valid
 * key gets 404, because it is not a user.
 */
async function refusalOf(key) {
  if (key === undefined) return undefined;
  const answer = await ask(ME, { headers: { 'X-API-Key': key }, credentials: 'omit' });
  const { code, detail } = await answer.json().catch(() => ({}));
  if (answer.status === 401) return 'is refused: it is unknown, expired or revoked';
  return code === 'network_not_permitted' ? `is refused: ${detail}` : undefined;
}

function sentence(key, refusal, person) {
  if (key === undefined)
    return person === undefined
      ? 'Nobody is logged in: authorize with an API key, or log in below.'
      : `Requests use the session of ${person}.`;
  // The public id of a generated key is not secret. A key chosen by an operator has none.
  const id = /^rollcall_([0-9a-f]+)_/.exec(key)?.[1];
  const name = id === undefined ? 'entered API key' : `API key ${id}`;
  if (refusal !== undefined) return `The ${name} ${refusal}.`;
  const uses = `Requests use the ${name}`;
  return person === undefined ? `${uses}.` : `${uses}, which goes before the session of ${person}.`;
}

/**
 * Updates the status after a login, a logout or a rejected request, because the session or key may have
 * changed.
 */
window.fetch = async (...request) => {
  const answer = await ask(...request);
  if (answer.url.includes('/sessions') || answer.status === 401)
    void tell(sessionStorage.getItem(KEPT) ?? undefined);
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
