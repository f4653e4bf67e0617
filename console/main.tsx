import { render } from 'preact';
import { App } from './app.js';
import { findOut, followTabs } from './api/session.js';
import { followLinks } from './lib/place.js';

const root = document.getElementById('app');
if (root) {
  followLinks();
  followTabs();
  root.replaceChildren();
  render(<App />, root);
  void findOut();
}
