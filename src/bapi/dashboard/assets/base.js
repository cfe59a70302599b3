// Elements, text from outside, numbers for people.

const SVG = new Set(['svg', 'rect', 'polyline', 'line', 'pattern', 'defs', 'path', 'g', 'title']);

export const on = (node, type, heard) => node.addEventListener(type, heard);

// An element; `props` are attributes, functions are listeners ("onclick"), null and false are left out. Children are
// nodes or text: nothing is ever parsed as markup.
export function el(tag, props, ...children) {
  const node = SVG.has(tag) && tag !== 'title' ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') on(node, name.slice(2), value);
    else if (name === 'value') node.value = value;
    else node.setAttribute(name, value === true ? '' : shown(value));
  }
  node.append(...nodes(children));
  return node;
}

function nodes(children) {
  return children.flat(3).filter((c) => c !== null && c !== undefined && c !== false)
      .map((c) => (c instanceof Node ? c : document.createTextNode(shown(c))));
}

// What had the focus keeps it if it is there again afterwards, under its id or its text.
export function fill(node, ...children) {
  const name = (n) => n.id || n.textContent, focused = document.activeElement, inside = node !== focused && node.contains(focused) && name(focused);
  node.replaceChildren(...nodes(children));
  if (inside && !node.contains(document.activeElement)) [...node.querySelectorAll('a, button, input, select, summary')].find((n) => name(n) === inside)?.focus({preventScroll: true});
  return node;
}

// A small button; `label` says more than its text.
export const tool = (text, label, onclick, more) => el('button', {type: 'button', class: 'small', 'aria-label': label, onclick, ...more}, text);

// A labelled choice among [[value, text], ...]; `changed` is told what was chosen.
export function choice(label, options, chosen, changed, more) {
  const box = el('select', {'aria-label': label, onchange: () => changed(box.value), ...more}, options.map(([v, text]) => el('option', {value: v, selected: v === chosen}, text)));
  return box;
}

// What scrolls by itself can be reached with keys, and has a name.
export const scrolls = (label) => ({tabindex: '0', role: 'region', 'aria-label': label});
export const wait = (...text) => el('p', {class: 'wait'}, text);
export const note = (...text) => el('p', {class: 'note'}, text);
export const section = (...body) => el('section', {class: 'card'}, body);

// Text from outside as it is, with everything that would act on its surroundings made visible: control characters,
// and the characters that turn the direction of writing.
export function shown(text) {
  return String(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (c) => {
    const code = c.charCodeAt(0);
    if (code < 32) return String.fromCharCode(0x2400 + code);
    return code === 127 ? '\u2421' : '\u27eaU+' + code.toString(16).toUpperCase().padStart(4, '0') + '\u27eb';
  });
}

// What the program says in the middle of a line, as a sentence of its own.
export const sentence = (text) => (text ? text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.') : '');

export function cut(text, most) {
  return text.length > most ? text.slice(0, most) + '\u2026' : text;
}

// Colours of terminals as classes of a fixed table; all other sequences are dropped, and long lines cut.
export function ansi(text) {
  const out = [];
  let colour = null, bold = false;
  // eslint-disable-next-line no-control-regex
  const parts = text.replace(/\r+\n/g, '\n').split(/(\u001b\[[0-9;:?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[@-_])/);
  for (const part of parts) {
    if (part.startsWith('\u001b')) {
      const sgr = /^\u001b\[([0-9;]*)m$/.exec(part);
      if (!sgr) continue;
      for (const code of sgr[1].split(';').map(Number)) {
        if (code === 0) { colour = null; bold = false; }
        if (code === 1) bold = true;
        if (code === 22) bold = false;
        if (code === 39) colour = null;
        if (code >= 30 && code <= 37) colour = code - 30;
        if (code >= 90 && code <= 97) colour = code - 82;
      }
    } else if (part) {
      const plain = part.split('\n').map((line) => cut(line.slice(line.lastIndexOf('\r') + 1), 2000)).join('\n');
      const names = [colour === null ? '' : 'ansi' + colour, bold ? 'bold' : ''].join(' ').trim();
      out.push(names ? el('span', {class: names}, plain) : document.createTextNode(shown(plain)));
    }
  }
  return out;
}

// ---- Numbers, as the program writes them

export function num(v) {
  if (v === null || v === undefined) return '\u2013';
  if (!isFinite(v)) return String(v);
  const size = Math.abs(v);
  if (size < 1e6 && (v === Math.floor(v) || size >= 1000)) return v.toFixed(0);
  return general(v, 4);
}

// As %.4g writes it.
function general(v, digits) {
  const [mantissa, exponent] = v.toExponential(digits - 1).split('e').map(Number);
  if (exponent < -4 || exponent >= digits) {
    return String(mantissa) + 'e' + (exponent < 0 ? '-' : '+') + String(Math.abs(exponent)).padStart(2, '0');
  }
  const text = v.toFixed(Math.max(0, digits - 1 - exponent));
  return text.includes('.') ? text.replace(/0+$/, '').replace(/\.$/, '') : text;
}

export function duration(seconds) {
  if (seconds < 0) return '-' + duration(-seconds);
  if (!isFinite(seconds)) return String(seconds);
  if (seconds === 0) return '0 s';
  if (seconds < 0.9995) return general(1000 * seconds, 3) + ' ms';
  if (seconds < 99.95) return seconds.toFixed(1) + ' s';
  const whole = Math.round(seconds), two = (n) => String(n).padStart(2, '0');
  if (whole < 3600) return Math.floor(whole / 60) + 'm' + two(whole % 60) + 's';
  const minutes = Math.floor(whole / 60);
  if (minutes < 48 * 60) return Math.floor(minutes / 60) + 'h' + two(minutes % 60) + 'm';
  const hours = Math.floor(minutes / 60);
  return Math.floor(hours / 24) + 'd' + two(hours % 24) + 'h';
}

export const digits = (v, n) => Number(v.toPrecision(n));
export const plural = (n, noun) => n + ' ' + noun + (n === 1 ? '' : 's');
export const percent = (p) => (p > 0 && p < 0.005 ? 'under 1' : p < 1 && p > 0.995 ? 'over 99' : Math.round(100 * p)) + ' %';
export const clock = (at) => new Date(at * 1000).toTimeString().slice(0, 8);
export function cost(v, unit) {
  if (v === null || v === undefined) return '\u2013';
  if (unit === 's') return duration(v);
  return num(v) + ' ' + (v === 1 && unit === 'epochs' ? 'epoch' : unit);
}
export const costShort = (v, unit) => (unit === 's' ? duration(v) : num(v));
export const value = (v) => (typeof v === 'number' ? num(v) : v === null || v === undefined ? '\u2013' : String(v));
export const configText = (config) => Object.entries(config || {}).map(([k, v]) => k + '=' + value(v)).join(' ');
export const bytes = (n) => (n < 1000 ? n + ' B' : n < 1e6 ? general(n / 1e3, 3) + ' kB' : n < 1e9 ? general(n / 1e6, 3) + ' MB' : general(n / 1e9, 3) + ' GB');

// How long ago, in words that do not change every tick.
export function ago(seconds) {
  return seconds < 1 ? 'just now' : (seconds < 99 ? Math.round(seconds) + ' s' : duration(seconds)) + ' ago';
}

// ---- States: a sign and a word, never colour alone

export const STATES = {running: '\u25cf', interrupted: '\u25cc', paused: '\u25cc', completed: '\u25a0', stopped: '\u00d7', failed: '\u25b2', finished: '\u25a0', new: '\u25cb', loading: '\u2026', unreadable: '\u25b2'};
export const state = (name) => el('span', {class: 'state is-' + name}, el('span', {'aria-hidden': 'true'}, STATES[name] || ''), ' ', name);

export const better = (a, b, goal) => (goal === 'minimize' ? a < b : a > b);

export function spark(values, label) {
  const points = values.filter((v) => v !== null);
  if (points.length < 2) return el('span', {class: 'spark'});
  const low = Math.min(...points), high = Math.max(...points), range = high - low || 1;
  const at = points.map((v, i) => (100 * i / (points.length - 1)).toFixed(1) + ',' + (19 - 18 * (v - low) / range).toFixed(1));
  return el('svg', {class: 'spark', viewBox: '0 0 100 20', preserveAspectRatio: 'none', role: 'img', 'aria-label': label || 'curve from ' + num(points[0]) + ' to ' + num(points.at(-1))},
            el('polyline', {points: at.join(' '), fill: 'none', 'vector-effect': 'non-scaling-stroke'}));
}

export function table(head, rows, props) {
  const number = (i) => rows.some((row) => typeof row[i] === 'number');
  return el('table', props || {}, el('thead', {}, el('tr', {}, head.map((h, i) => el('th', {scope: 'col', class: number(i) ? 'n' : null}, h)))),
            el('tbody', {}, rows.map((row) => el('tr', {}, row.map((c) => el('td', {class: typeof c === 'number' ? 'n' : null}, typeof c === 'number' ? num(c) : c ?? '\u2013'))))));
}

// RFC 4180; a cell that a spreadsheet would take for a formula gets a quote.
export function csv(head, rows) {
  const cell = (v) => {
    if (v === null || v === undefined) return '';
    let text = String(v);
    if (typeof v !== 'number' && /^[=+\-@\t\r]/.test(text)) text = "'" + text;
    return /[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
  };
  return [head, ...rows].map((row) => row.map(cell).join(',') + '\r\n').join('');
}

export function save(name, blob) {
  const link = el('a', {href: URL.createObjectURL(blob), download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

export function copyButton(text, label) {
  const button = tool('copy', label, async () => {
    try {
      await navigator.clipboard.writeText(text);
      fill(button, 'copied');
    } catch { fill(button, 'press Ctrl-C'); }
    setTimeout(() => fill(button, 'copy'), 1500);
  }, {title: label});
  return button;
}
