import { useEffect, useRef, useState } from 'preact/hooks';
import { setQuery, useUrl } from '../lib/url.js';
import { useDelayed } from '../lib/use-delayed.js';
import { TextField } from './field.js';
import { Icon } from './icon.js';

const TYPING_PAUSE_MILLIS = 250;

interface SearchProps {
  /** Name of the query parameter that holds the text. */
  name: string;
  label: string;
  placeholder: string;
  maxLength?: number;
  /** Query parameters to remove when the text changes. */
  resets?: readonly string[];
  /** True if the field is one of several filters. */
  isSmall?: boolean;
}

/** A search field that updates the URL when the user stops typing. */
export function SearchField(props: SearchProps) {
  const { name, label, placeholder, maxLength = 250, resets = [], isSmall = false } = props;
  const { query } = useUrl();
  const current = query.get(name) ?? '';
  const [text, setText] = useState(current);
  const delayedText = useDelayed(text, TYPING_PAUSE_MILLIS);
  const searched = useRef(current);
  useEffect(() => {
    if (current !== searched.current) setText(current); // after navigation in the history, but not while typing
    searched.current = current;
  }, [current]);
  useEffect(() => {
    const reset = Object.fromEntries(['after', ...resets].map((each) => [each, undefined]));
    // A search adds one history entry, not one for each key press.
    if (delayedText !== text || delayedText === current) return;
    searched.current = delayedText;
    setQuery({ ...reset, [name]: delayedText }, { replace: current !== '' });
  }, [delayedText]);
  return (
    <div class={isSmall ? 'field' : 'search'}>
      <TextField
        name={name}
        label={label}
        value={text}
        onValue={setText}
        input={{ type: 'search', maxLength, spellcheck: false, autocomplete: 'off', placeholder }}
      />
      {!isSmall && <Icon name="search" />}
    </div>
  );
}
