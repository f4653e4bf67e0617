import { render } from 'preact';
import { App } from './app.js';
import { followOtherTabs, startSession } from './api/session.js';
import { interceptLinkClicks } from './lib/url.js';

const root = document.getElementById('app');
if (root) {
  interceptLinkClicks();
  followOtherTabs();
  root.replaceChildren();
  render(<App />, root);
  void startSession();
}
