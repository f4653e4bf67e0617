import { useEffect, useState } from 'preact/hooks';
import { setQuery, usePlace } from '../lib/place.js';
import { useDelayed } from '../lib/use-delayed.js';
import { TextField } from './field.js';
import { Icon } from './icon.js';

const PAUSE = 250;

interface SearchProps {
  /** Of the query parameter that has the text. */
  name: string;
  label: string;
  placeholder: string;
  maxLength?: number;
  /** Query parameters that mean something for the text of before only. */
  resets?: readonly string[];
  /** It is one of several filters. */
  isSmall?: boolean;
}

/** A text that changes the address when the reader pauses. */
export function SearchField(props: SearchProps) {
  const { name, label, placeholder, maxLength = 250, resets = [], isSmall = false } = props;
  const { query } = usePlace();
  const current = query.get(name) ?? '';
  const [text, setText] = useState(current);
  const settled = useDelayed(text, PAUSE);
  useEffect(() => {
    setText(current); // the way back in the history
  }, [current]);
  useEffect(() => {
    const reset = Object.fromEntries(['after', ...resets].map((each) => [each, undefined]));
    // One entry of the history for a search, however many letters it has.
    if (settled === text && settled !== current)
      setQuery({ ...reset, [name]: settled }, { replace: current !== '' });
  }, [settled]);
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
