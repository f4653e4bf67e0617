import { styleText } from 'node:util';
import { isObject, tryParseJson } from '../common/json.js';
import { replaceHidden } from '../common/text.js';

const LEVELS: Readonly<Record<string, { name: string; color: 'dim' | 'green' | 'yellow' | 'red' }>> = {
  10: { name: 'TRACE', color: 'dim' },
  20: { name: 'DEBUG', color: 'dim' },
  30: { name: 'INFO', color: 'green' },
  40: { name: 'WARN', color: 'yellow' },
  50: { name: 'ERROR', color: 'red' },
  60: { name: 'FATAL', color: 'red' },
};
const NAME_LENGTH = 5;
const SERVER_FAULT = 500;

/**
 * Formats a JSON log line for people: local time, level, message and the other fields. A line that is not JSON stays
 * unchanged.
 */
export function formatPrettyLine(line: string, isColored: boolean): string {
  const event = tryParseJson(line);
  if (!isObject(event)) return line;
  const { level, time, msg, stack, ...fields } = event;
  const { name, color } = LEVELS[String(level)] ?? { name: String(level), color: 'dim' };
  const applyStyle = (style: 'dim' | 'green' | 'yellow' | 'red' | 'bold', text: string): string =>
    isColored ? styleText(style, text, { validateStream: false }) : text;
  const what = msg === 'request' ? formatRequest(fields) : String(msg);
  const isBad = typeof fields['status'] === 'number' && fields['status'] >= SERVER_FAULT;
  const shown = Object.entries(msg === 'request' ? getOtherFields(fields) : fields).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const frames = Array.isArray(stack) ? stack.map((frame) => `    at ${String(frame)}\n`).join('') : '';
  const head = `${applyStyle('dim', formatClock(time))} ${applyStyle(isBad ? 'red' : color, name.padEnd(NAME_LENGTH))} ${applyStyle('bold', replaceHidden(what))}`;
  return `${[head, ...(shown.length > 0 ? [applyStyle('dim', replaceHidden(shown.join(' ')))] : [])].join('  ')}\n${frames}`;
}

function formatClock(time: unknown): string {
  const date = new Date(String(time));
  if (Number.isNaN(date.getTime())) return String(time);
  return `${date.toTimeString().slice(0, 8)}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

const formatRequest = ({ method, path, status, aborted, ms }: Record<string, unknown>): string =>
  `${String(method)} ${String(path)} ${aborted === true ? 'aborted' : String(status)} ${String(ms)} ms`;

function getOtherFields(fields: Record<string, unknown>) {
  const { method: _m, path: _p, status: _s, aborted: _a, ms: _t, ...others } = fields;
  return others;
}
