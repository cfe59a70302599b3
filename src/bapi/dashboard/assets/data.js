// What the page knows: answers of the server, or of the data inside a one-file report, and the stream that keeps them
// up to date.
import {el, fill, sentence, shown} from './base.js';

const inside = document.getElementById('data');
export const FILE = inside ? JSON.parse(inside.textContent) : null;

export const know = {
  studies: [], searched: [], readOnly: true, id: null, study: null, error: null,
  trials: [], curves: [], answers: {}, insight: {}, offset: 0,
  live: FILE ? 'file' : 'connecting', liveSince: 0, held: false, waiting: 0,
};

export const now = () => (FILE ? FILE.now : Date.now() / 1000 + know.offset);

export class Refused extends Error {
  constructor(status, message, hint) {
    super(message);
    this.status = status;
    this.hint = hint;
  }
}

const kept = new Map();  // path -> {etag, body}

// The answer of a path below api/v1; the same object while nothing has changed.
export async function get(path, binary) {
  if (FILE) {
    const plain = path.replace(/\?trials=.*$/, '');
    if (plain in FILE.answers) return FILE.answers[plain];
    throw new Refused(404, 'this report does not hold that', 'open the study with bapi dashboard');
  }
  const old = kept.get(path);
  const headers = old && old.etag ? {'If-None-Match': old.etag} : {};
  const answer = await fetch('api/v1/' + path, {headers, cache: 'no-store'});
  if (answer.status === 304) return old.body;
  const body = await (binary && answer.ok ? answer.arrayBuffer() : answer.json().catch(() => ({error: {message: 'the server gave no answer'}})));
  if (!answer.ok) throw new Refused(answer.status, body.error.message, body.error.hint);
  if (kept.size > 200) kept.clear();
  kept.set(path, {etag: answer.headers.get('ETag'), body});
  return body;
}

export async function post(path, body) {
  const answer = await fetch('api/v1/' + path, {method: 'POST', headers: {'Content-Type': 'application/json', 'X-Bapi': '1'}, body: JSON.stringify(body)});
  const record = await answer.json().catch(() => ({error: {message: 'the server gave no answer'}}));
  if (!answer.ok) throw new Refused(answer.status, record.error.message, record.error.hint);
  return record;
}

// A request to the controller, which decides; `tell` shows what becomes of it.
export async function ask(request, tell) {
  const base = of(know.id, 'requests');
  fill(tell, 'waiting for the controller');
  try {
    const {request: id} = await post(base, request);
    for (let i = 0; i < 100; ++i) {
      const record = await get(base + '/' + id);
      if (record.state === 'done') return fill(tell, 'done');
      if (record.state === 'refused') return fill(tell, el('span', {class: 'bad'}, 'refused: ' + record.reason));
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    fill(tell, 'still waiting: the controller is busy');
  } catch (error) { fill(tell, complaint(error)); }
}

// The token stands in the fragment of the printed address, and becomes a cookie.
export async function logIn() {
  const given = /[#&]token=([0-9a-f]+)/.exec(location.hash);
  if (!given) return;
  history.replaceState(null, '', location.pathname + '#/');
  await post('login', {token: given[1]});
}

export async function loadStudies() {
  const record = await get('studies');
  know.studies = record.studies;
  know.searched = record.searched || [];
  know.listVersion = record.version;
  know.readOnly = record.read_only;
  know.offset = record.now - Date.now() / 1000;
}

// Where a study is, for the server and in the address of the page.
export const of = (id, rest) => 'studies/' + encodeURIComponent(id) + (rest ? '/' + rest : '');
export const link = (id, rest) => '#/s/' + encodeURIComponent(id) + (rest ? '/' + rest : '');

// What the planner has answered last; null if nothing yet.
export const insight = (what) => (know.insight[what] && know.insight[what].answer) || null;

export async function loadStudy(id) {
  if (know.id !== id) {
    Object.assign(know, {id, study: null, error: null, trials: [], curves: [], answers: {}, insight: {}});
  }
  try {
    const record = await get(of(id));
    if (know.id !== id) return;
    know.study = record;
    know.error = null;
  } catch (error) {
    if (error.status === 401) throw error;
    know.error = error;
  }
}

function decodeCurves(buffer) {
  const view = new DataView(buffer), trials = view.getUint32(4, true), seq = Number(view.getBigUint64(8, true));
  const offsets = new Uint32Array(buffer, 16, trials + 1), points = offsets[trials], base = 16 + 4 * (trials + 1);
  const values = new Float32Array(buffer, base, points), costs = new Float32Array(buffer, base + 4 * points, points);
  const curves = [];
  for (let i = 0; i < trials; ++i) {
    curves.push({values: values.subarray(offsets[i], offsets[i + 1]), costs: costs.subarray(offsets[i], offsets[i + 1])});
  }
  return {curves, seq};
}

async function loadCurves(id) {
  if (FILE) {
    const list = (await get(of(id, 'curves'))).curves;
    return {curves: list.map((c) => ({values: Float32Array.from(c.values, (v) => v ?? NaN), costs: Float32Array.from(c.costs, (v) => v ?? NaN)})), seq: FILE.seq};
  }
  return decodeCurves(await get(of(id, 'curves'), true));
}

// Loads what a page shows: "trials", "curves", names of records, and names of insights with a question mark.
export async function loadParts(id, parts) {
  await Promise.all(parts.map(async (part) => {
    try {
      if (part === 'trials') {
        const page = await get(of(id, 'trials?limit=100000'));
        if (know.id === id) know.trials = page.trials;
      } else if (part === 'curves') {
        const loaded = await loadCurves(id);
        if (know.id !== id) return;
        know.curves = loaded.curves;
        know.curvesSeq = loaded.seq;
      } else if (part.startsWith('?')) {
        const [name] = part.slice(1).split('?');
        const record = await get(of(id, part.slice(1)));
        if (know.id === id) know.insight[name] = record;
      } else {
        const record = await get(of(id, part));
        if (know.id === id) know.answers[part] = record;
      }
    } catch (error) {
      if (error.status === 401) throw error;
      if (know.id === id) know.answers[part + '!'] = error;
    }
  }));
}

// ---- Live

let source = null, poll = null, listeners = null;

// `planned` is the study of which the page shows what the planner thinks.
export function follow(cursors, planned, heard) {
  listeners = heard;
  unfollow();
  if (FILE) return;
  source = new EventSource('api/v1/stream?list=' + (know.listVersion ?? '') + '&' + cursors.map(([id, seq]) => 'at=' + encodeURIComponent(id + ':' + seq)).join('&') + (planned === null ? '' : '&planner=' + encodeURIComponent(planned)));
  source.onopen = () => setLive('live');
  source.onerror = () => {
    const refused = source && source.readyState === 2;
    if (!refused || know.live !== 'polled') setLive('off');
    let round = 0;
    if (refused && !poll) poll = setInterval(() => heard('poll', {round: ++round}), 2000);
  };
  for (const kind of ['status', 'log', 'insight', 'studies', 'bye']) {
    source.addEventListener(kind, (event) => {
      setLive('live');
      heard(kind, JSON.parse(event.data));
    });
  }
}

export function unfollow() {
  if (source) source.close();
  clearInterval(poll);
  source = poll = null;
}

export const following = () => source !== null || poll !== null;

function setLive(live) {
  if (know.live === live) return;
  know.live = live;
  know.liveSince = now();
  if (listeners) listeners('live', {});
}

export function setPolled() { setLive('polled'); }

// The live record of a study; what it does not tell stays.
export function takeStatus(record) {
  know.offset = record.now ? record.now - Date.now() / 1000 : know.offset;
  const listed = know.studies.find((s) => s.id === record.study);
  if (listed) Object.assign(listed, {state: record.state, budget: record.budget || listed.budget, trials: record.trials || listed.trials, best: record.best === undefined ? listed.best : record.best, changed: record.changed || listed.changed, error: record.error || null});
  if (know.study && record.study === know.id) know.study = {...know.study, ...record};
}

// New points of curves, without asking for the others again. Returns how many there were.
export function takeEvents(events) {
  let points = 0;
  for (const {seq, kind, event} of events) {
    if (kind !== 'measured' || seq <= (know.curvesSeq || 0)) continue;
    const trial = event.trial, epoch = event.epoch ?? (event.measurement && event.measurement.epoch);
    const got = event.measurement || event;
    while (know.curves.length <= trial) know.curves.push({values: new Float32Array(0), costs: new Float32Array(0)});
    const curve = know.curves[trial];
    if (epoch <= curve.values.length) continue;
    const values = new Float32Array(epoch).fill(NaN), costs = new Float32Array(epoch).fill(NaN);
    values.set(curve.values);
    costs.set(curve.costs);
    values[epoch - 1] = got.value;
    costs[epoch - 1] = got.cost;
    know.curves[trial] = {values, costs};
    ++points;
  }
  return points;
}

export function complaint(error) {
  return el('p', {class: 'bad', role: 'alert'}, sentence(shown(error.message)), error.hint ? ' ' + sentence(error.hint) : '');
}

// ---- The address: where one is, and everything that a reload must not lose

export function place() {
  const [path, query] = location.hash.slice(1).split('?');
  return {path: path || '/', query: new URLSearchParams(query || '')};
}

export const param = (name) => place().query.get(name);

export function setParam(name, text) {
  const {path, query} = place();
  if (text === null || text === '') query.delete(name); else query.set(name, text);
  const rest = query.toString().replace(/%2C/g, ',');
  history.replaceState(null, '', '#' + path + (rest ? '?' + rest : ''));
}

export const pins = () => (param('pin') || '').split(',').filter(Boolean).map(Number);
export const selected = () => (param('sel') === null ? null : Number(param('sel')));
