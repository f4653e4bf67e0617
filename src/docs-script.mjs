// Runs next to Swagger UI in the browser. Stores an entered API key for the tab, and shows the credentials in use.
const STORAGE_KEY = 'rollcall.api_key';
const SCHEME = { type: 'apiKey', in: 'header', name: 'X-API-Key' };
const ME = '/api/0.3/users/me';

const line = document.createElement('p');
line.id = 'who';
line.setAttribute('role', 'status');
document.body.prepend(line);

const send = window.fetch.bind(window);
/** Number of the latest status request. Responses to earlier requests are ignored. */
let latestRequest = 0;

async function showStatus(key) {
  const request = ++latestRequest;
  const [session, reason] = await Promise.all([send(ME, { credentials: 'same-origin' }), findRejection(key)]);
  const user = session.ok ? (await session.json()).username : undefined;
  if (request === latestRequest) line.textContent = formatStatus(key, reason, user);
}

/**
 * Returns the reason why the service rejects a key: it is invalid, or not permitted in this network. A valid key
 * gets 404, because it is not a user.
 */
async function findRejection(key) {
  if (key === undefined) return undefined;
  const response = await send(ME, { headers: { 'X-API-Key': key }, credentials: 'omit' });
  const { code, detail } = await response.json().catch(() => ({}));
  if (response.status === 401) return 'was rejected. It is unknown, expired or revoked.';
  return code === 'network_not_permitted' ? `was rejected. ${detail}` : undefined;
}

function formatStatus(key, reason, user) {
  if (key === undefined)
    return user === undefined
      ? 'Not logged in. Authorize with an API key, or log in below.'
      : `Requests use the session of ${user}.`;
  // The public id of a generated key is not secret. A key chosen by an operator has none.
  const id = /^rollcall_([0-9a-f]+)_/.exec(key)?.[1];
  const name = id === undefined ? 'entered API key' : `API key ${id}`;
  if (reason !== undefined) return `The ${name} ${reason}`;
  const text = `Requests use the ${name}`;
  return user === undefined ? `${text}.` : `${text}, which takes precedence over the session of ${user}.`;
}

/** Updates the status after a login, a logout or a rejected request, because the session or key may have changed. */
window.fetch = async (...request) => {
  const response = await send(...request);
  if (response.url.includes('/sessions') || response.status === 401)
    void showStatus(sessionStorage.getItem(STORAGE_KEY) ?? undefined);
  return response;
};

window.addEventListener('load', () => {
  const { ui } = window;
  const storedKey = sessionStorage.getItem(STORAGE_KEY) ?? undefined;
  if (storedKey !== undefined)
    ui.authActions.authorize({ api_key: { name: 'api_key', schema: SCHEME, value: storedKey } });
  let current = storedKey;
  ui.getStore().subscribe(() => {
    const key = ui.authSelectors.authorized()?.getIn(['api_key', 'value']);
    if (key === current) return;
    current = key;
    if (key === undefined) sessionStorage.removeItem(STORAGE_KEY);
    else sessionStorage.setItem(STORAGE_KEY, key);
    void showStatus(key);
  });
  void showStatus(current);
});
