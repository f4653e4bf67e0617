import type { Request } from 'express';
import { FORWARDED_CHARACTERS } from './bounds.js';

/** Shortens a list of forwarded addresses from its beginning, which only its sender vouches for. */
export function boundForwarded({ headers }: Request): void {
  const list = headers['x-forwarded-for'];
  if (typeof list !== 'string' || list.length <= FORWARDED_CHARACTERS) return;
  const end = list.slice(-FORWARDED_CHARACTERS);
  headers['x-forwarded-for'] = end.slice(end.indexOf(',') + 1);
}
