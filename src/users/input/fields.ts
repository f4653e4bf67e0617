import { Normalise } from '../../input/normalise.js';
import { Clean, MaxCharacters, NotBlank, OfType, TextRule, all, line, trimmed } from '../../input/rules.js';
import { isWithin, normalForm } from '../../common/text.js';
import { isEmailAddress, isHttpUrl, localPart } from '../model/formats.js';

/** Rules of one kind of field each, for the input classes. */

export const Line = (max: number) => all(Normalise(trimmed), OfType('string'), Clean(), MaxCharacters(max));

export const Url = () =>
  all(Line(2048), TextRule('invalid_format', 'must be an http or https URL', isHttpUrl));

/** A password: any characters, never trimmed. */
export const Secret = () =>
  all(
    Normalise((raw) =>
      typeof raw === 'string' && raw.isWellFormed() ? normalForm(raw, 'NFC') || null : raw,
    ),
    OfType('string'),
    TextRule('invalid_format', 'may not hold broken Unicode', (text) => text.isWellFormed()),
    MaxCharacters(128),
  );

/** The one text whose inner spaces do not count. */
export const Username = () => all(NotBlank(), Line(254), Normalise(line));

export const Email = () =>
  all(
    NotBlank(),
    Line(254),
    TextRule('invalid_format', 'must be an e-mail address', isEmailAddress),
    TextRule('too_long', 'may have at most 64 characters before the @', (text) =>
      isWithin(localPart(text), 64),
    ),
  );

export const Flag = () => OfType('boolean');
