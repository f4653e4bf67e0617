import { KEY } from '../../servers.js';

/** A request of a case, the same for the service and its baselines. */
interface BenchRequest {
  method: 'GET' | 'POST' | 'PUT';
  path: string;
  body?: object;
}

/** Returns the request for user or position number `n`. `serial` is different in every request. */
export type RequestOf = (n: number, serial: number) => BenchRequest;

/** First serial number. All serial numbers have the same number of digits, so that they can be found in statements. */
export const FIRST_SERIAL = 900_000_000;

export const HEADERS = { 'x-api-key': KEY };
export const JSON_HEADERS = { ...HEADERS, 'content-type': 'application/json' };
