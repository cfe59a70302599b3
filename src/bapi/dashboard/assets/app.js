// The frame: where one is, live data, keys, theme, actions.
import {el, fill, on, wait, tool, choice, shown, clock, plural, num, copyButton} from './base.js';
import {know, link, ask, post, logIn, loadStudies, loadStudy, loadParts, follow, unfollow, following, takeStatus, takeEvents, setPolled, place, setParam, pins, selected, complaint, FILE} from './data.js';
import {readColours, calmly} from './chart.js';
import {whenPicked} from './charts.js';
import {stateLine, overview, curvesPage, trialsPage, planPage, budgetPage, decisionsPage, paramsPage, modelPage, trialPage, studiesPage, comparePage} from './views.js';

/** @type {[string, string, () => any, string][]} */
const PAGES = [['', 'Overview', overview, 'o'], ['curves', 'Curves', curvesPage, 'c'], ['trials', 'Trials', trialsPage, 't'], ['plan', 'Plan', planPage, 'p'], ['budget', 'Budget', budgetPage, 'b'], ['decisions', 'Decisions', decisionsPage, 'd'], ['params', 'Params', paramsPage, 'a'], ['model', 'Model', modelPage, 'm']];

const /** @type {any} */ head = document.getElementById('head'), main = document.getElementById('main'), said = document.getElementById('said');
let page = null, line = null, where = null, refreshAt = 0, timer = null, lastSaid = 0;

// ---- Theme

function applyTheme(name) {
  document.documentElement.dataset.theme = name;
  readColours();
  if (page) page.update();
}
function theme() { try { return localStorage.getItem('bapi-theme') || 'system'; } catch { return 'system'; } }
function nextTheme() {
  const next = {system: 'light', light: 'dark', dark: 'system'}[theme()];
  try { localStorage.setItem('bapi-theme', next); } catch { /* not kept, no harm */ }
  applyTheme(next);
  showHead();
}

// For screen readers: only what matters, and not too often.
function say(text) {
  if (Date.now() - lastSaid < 5000) return;
  lastSaid = Date.now();
  fill(said, text);
}

// ---- Head

function liveText() {
  if (FILE) return ['\u25a0', 'report of ' + new Date(FILE.now * 1000).toLocaleString() + (FILE.note ? '; ' + FILE.note : '')];
  if (know.held) return ['\u2016', 'held, ' + plural(know.waiting, 'change') + ' waiting'];
  if (know.live === 'live') return ['\u25cf', 'live'];
  if (know.live === 'polled') return ['\u25cf', 'live, every 2 s'];
  if (know.live === 'connecting') return ['\u25cb', 'connecting'];
  return ['\u25b2', 'not live since ' + clock(know.liveSince) + ', trying again'];
}

function showHead() {
  const id = where && where.id, [mark, text] = liveText();
  const key = JSON.stringify([where, know.studies.map((s) => s.id), mark, text, theme(), know.readOnly]);
  if (head.slotKey_ === key) return;
  head.slotKey_ = key;
  const switcher = id && know.studies.length > 1 ? choice('Study', know.studies.map((s) => [s.id, s.name + (s.name === s.id ? '' : ' (' + s.id + ')')]), id, (v) => { location.hash = link(v); }, {id: 'switcher'}) : id ? el('strong', {}, know.study ? know.study.name : id) : null;
  // Where there is no room for tabs, a menu.
  const pageBox = id ? choice('Page', [...(where.trial === null ? [] : [['t/' + where.trial, 'Trial ' + where.trial]]), ...PAGES], where.trial === null ? where.page : 't/' + where.trial, (v) => { location.hash = link(id, v); }, {class: 'narrow', id: 'pages'}) : null;
  fill(head, el('div', {class: 'top'}, el('a', {href: '#/', class: 'brand', id: 'brand'}, 'bapi'), id ? ['\u00a0\u203a ', switcher] : null,
      pageBox, el('span', {class: 'live is-' + (know.held ? 'held' : know.live)}, el('span', {'aria-hidden': 'true'}, mark), ' ' + text),
      id && !FILE && !know.readOnly ? tool('actions', null, actionsDialog, {id: 'actions'}) : null,
      tool(['\u25d0', el('span', {class: 'broad'}, ' ' + theme())], 'Theme: ' + theme(), nextTheme, {id: 'theme'}),
      tool('?', 'Keys and help', help, {id: 'help'})),
      id ? el('nav', {'aria-label': 'Pages'}, PAGES.map(([name, title]) => el('a', {href: link(id, name), 'aria-current': where.page === name && where.trial === null ? 'page' : null}, title))) : null);
}

// ---- Router

function read() {
  const parts = place().path.split('/').filter(Boolean).map((p) => { try { return decodeURIComponent(p); } catch { return p; } });
  if (parts[0] === 's' && parts[1]) return {id: parts[1], page: parts[2] === 't' ? 't' : parts[2] || '', trial: parts[2] === 't' ? Number(parts[3]) : null};
  return {id: null, page: parts[0] === 'compare' ? 'compare' : 'studies', trial: null};
}

async function go() {
  where = read();
  const there = where;
  main.setAttribute('aria-busy', 'true');
  try {
    if (!know.studies.length || !where.id) await loadStudies();
    if (FILE && !where.id && know.studies.length === 1) { location.replace(link(know.studies[0].id)); return; }
    if (there !== where) return;
    if (where.id) {
      if (know.id !== where.id) fill(main, el('h1', {class: 'quiet'}, where.id), wait('Reading ' + where.id + '.'));
      await loadStudy(where.id);
      if (there !== where) return;
    }
  } catch (error) { return refused(error); }
  showHead();
  if (where.id && know.error) {
    fill(main, el('h1', {}, where.id), complaint(know.error));
    page = null;
    settled();
    return listen();
  }
  page = makePage();
  line = where.id ? stateLine(where.page === '') : null;
  const name = where.id ? know.study.name + ': ' + page.title : page.title;
  document.title = name + ' \u2013 bapi';
  fill(main, el('h1', {class: where.id ? 'quiet' : null}, shown(name)), line ? line.node : null, page.node);
  update();
  listen();
  await Promise.all([refresh(there), page.ready && page.ready.catch(refused)]);
  if (there === where) settled();
}

// Everything that the address asks for is shown.
function settled() {
  main.removeAttribute('aria-busy');
  main.dataset.path = place().path;
}

function makePage() {
  if (!where.id) return where.page === 'compare' ? comparePage() : studiesPage();
  if (where.trial !== null) return trialPage(where.trial);
  const found = PAGES.find(([name]) => name === where.page);
  return (found || PAGES[0])[2]();
}

function update(live) {
  if (know.held) { ++know.waiting; return showHead(); }
  if (line) line.update();
  if (page) { if (live) calmly(page.update); else page.update(); }
  showHead();
}

// Loads what the page needs, then shows it; curves and tables come as they arrive.
async function refresh(there) {
  if (!where.id || !page || !page.parts.length) return;
  refreshAt = Date.now();
  try {
    for (const group of [page.parts.filter((p) => !p.startsWith('?')), page.parts.filter((p) => p.startsWith('?'))]) {
      await loadParts(where.id, group);
      if (there !== where) return;
      update();
    }
  } catch (error) { refused(error); }
}

function refreshSoon() {
  if (timer || !page) return;
  const pause = know.trials.length > 2000 ? 5000 : 1000;
  timer = setTimeout(() => { timer = null; if (!know.held) refresh(where); }, Math.max(0, refreshAt + pause - Date.now()));
}

function refused(error) {
  settled();
  if (error.status === 401) {
    unfollow();
    const input = el('input', {type: 'password', id: 'token', autocomplete: 'off'});
    return fill(main, el('h1', {}, 'Token needed'), el('form', {class: 'card', onsubmit: async (e) => {
      e.preventDefault();
      try { await post('login', {token: input.value.trim().replace(/^.*token=/, '')}); location.hash = '#/'; go(); } catch (problem) { fill(main.querySelector('.tell'), complaint(problem)); }
    }}, el('p', {}, 'Open the address that bapi dashboard has printed, or paste it or its token here.'), el('label', {for: 'token'}, 'Token '), input, ' ', el('button', {}, 'Open'), el('div', {class: 'tell'})));
  }
  fill(main, el('h1', {}, 'Something went wrong'), complaint(error));
}

// ---- Live

function listen() {
  if (document.hidden || FILE) return;
  const cursors = where.id ? (know.study ? [[where.id, know.study.seq]] : [[where.id, 0]]) : know.studies.filter((s) => s.seq !== undefined).map((s) => [s.id, s.seq]);
  follow(cursors, page && page.parts.some((p) => p.startsWith('?')) ? where.id : null, heard);
}

function heard(kind, data) {
  if (kind === 'live') return showHead();
  // No place among the streams, or a server that came back with another token.
  if (kind === 'poll') {
    if (data.round % 5 === 0) return listen();
    return (where.id ? loadStudy(where.id) : loadStudies()).then(() => { if (!know.error) setPolled(); update(); refreshSoon(); }).catch((error) => error.status === 401 && refused(error));
  }
  if (kind === 'studies') return loadStudies().then(() => { if (!where.id) { listen(); update(); } else showHead(); });
  if (kind === 'status') {
    const before = know.study && data.study === know.id ? know.study : null;
    takeStatus(data);
    if (data.study === know.id && know.error && !data.error) return go();
    if (data.study === know.id && data.error) { know.error = {message: data.error}; return fill(main, el('h1', {}, where.id), complaint(know.error)); }
    if (before && data.best && (!before.best || before.best.value !== data.best.value)) say('New best: ' + num(data.best.value));
    else if (before && data.trials && data.trials.failed > before.trials.failed) say('A trial failed');
    else if (before && data.state === 'finished' && before.state !== 'finished') say('The study is finished');
    update(true);
    if (before && before.state !== data.state) refreshSoon();
  }
  if (kind === 'log' && data.study === know.id) {
    if (know.study) know.study.seq = Math.max(know.study.seq, data.events.at(-1).seq);
    takeEvents(data.events);
    refreshSoon();
  }
  if (kind === 'insight' && data.study === know.id && page) {
    const wanted = page.parts.filter((p) => p.startsWith('?'));
    const there = where;
    loadParts(where.id, wanted).then(() => { if (there === where) update(); });
  }
}

// A hidden tab closes its stream: browsers open six connections per host.
on(document, 'visibilitychange', () => {
  if (FILE || !where) return;
  if (document.hidden) unfollow();
  else if (!following()) (where.id ? loadStudy(where.id) : loadStudies()).then(() => { update(); refresh(where); listen(); }).catch(refused);
});

// ---- Actions: asked for here, decided by the controller

function dialog(title, ...body) {
  const box = el('dialog', {'aria-labelledby': 'dialog-title'}, el('div', {class: 'bar'}, el('h2', {id: 'dialog-title'}, title), tool('\u00d7', 'Close', () => box.close())), body);
  on(box, 'close', () => box.remove());
  document.body.append(box);
  box.showModal();
  return box;
}

function actionsDialog() {
  const tell = el('p', {role: 'status', class: 'tell'}), total = el('input', {type: 'text', id: 'new-total', size: '12', value: know.study.spec.unit === 's' ? Math.round(know.study.budget.total) + 's' : num(know.study.budget.total) + ' ' + know.study.spec.unit}), note = el('input', {type: 'text', id: 'new-note', maxlength: '1000'}), trial = el('input', {type: 'text', inputmode: 'numeric', id: 'stop-trial', size: '6', value: String((where && where.trial) ?? selected() ?? '')});
  const running = know.study.state === 'running';
  dialog('Actions', el('p', {}, running ? 'The controller takes requests up at once, checks them and writes them to the log.' : 'No controller runs this study: budget, stop and note are written at once.'),
      el('form', {class: 'row', onsubmit: (e) => { e.preventDefault(); ask({action: 'budget', total: total.value}, tell); }}, el('label', {for: 'new-total'}, 'Total budget '), total, ' ', el('button', {}, 'change')),
      el('form', {class: 'row', onsubmit: (e) => { e.preventDefault(); if (/^\d+$/.test(trial.value.trim())) ask({action: 'stop_trial', trial: Number(trial.value)}, tell); else fill(tell, 'Give the number of a trial.'); }}, el('label', {for: 'stop-trial'}, 'Trial '), trial, ' ', el('button', {}, 'stop for good')),
      el('form', {class: 'row', onsubmit: (e) => { e.preventDefault(); ask({action: 'note', text: note.value}, tell); }}, el('label', {for: 'new-note'}, 'Note '), note, ' ', el('button', {}, 'add')),
      running ? el('p', {}, el('button', {type: 'button', onclick: () => ask({action: 'pause'}, tell)}, 'Pause the study'), ' ends as Ctrl-C does: running trials keep their checkpoints.') : know.study.command ? el('p', {}, 'To continue: ', el('code', {}, know.study.command), ' ', copyButton(know.study.command, 'Copy the command')) : null, tell);
}

// ---- Keys

function help() {
  const keys = [['?', 'this help'], ['g then o c t p b d a m', 'Overview, Curves, Trials, Plan, Budget, Decisions, Params, Model'], ['/', 'filter'], ['j k', 'next, previous trial'], ['Enter', 'open the selected trial'], ['p', 'pin the selected trial'], ['space', 'hold the live view'], ['Esc', 'close'], ['0 l t', 'zoom back, logarithmic axis, table: of the chart below the pointer, or the first'], ['in a chart: arrows, shift', 'move the reading point, by ten'], ['+ -', 'zoom in, out']];
  dialog('Keys', el('dl', {class: 'keys'}, keys.map(([k, text]) => [el('dt', {}, el('kbd', {}, k)), el('dd', {}, text)])), el('p', {}, 'Drag in a chart zooms, double click shows all, click pins.'));
}

function choose(step) {
  const list = page.list ? page.list().map((t) => t.trial) : know.trials.map((t) => t.trial);
  if (!list.length) return;
  const at = list.indexOf(selected()), next = list[Math.max(0, Math.min(list.length - 1, at < 0 ? 0 : at + step))];
  setParam('sel', String(next));
  const box = document.querySelector('.virtual');
  if (box) box.scrollTop = Math.max(0, list.indexOf(next) * 34 - box.clientHeight / 2);
  page.update();
}

whenPicked((trial) => {
  const list = pins();
  setParam('sel', String(trial));
  setParam('pin', (list.includes(trial) ? list.filter((n) => n !== trial) : [...list, trial].slice(-8)).join(','));
  page.update();
  if (!FILE && !list.includes(trial) && page.parts.some((p) => p.startsWith('?forecast'))) loadParts(where.id, ['?forecast?trials=' + trial]).then(() => page.update());
});

let prefix = false;
on(document, 'keydown', (e) => {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName) && e.target.type !== 'range' && e.target.type !== 'checkbox';
  if (e.ctrlKey || e.metaKey || e.altKey || document.querySelector('dialog[open]')) return;
  if (typing) { if (e.key === 'Escape') e.target.blur(); return; }
  if (prefix) {
    prefix = false;
    const found = PAGES.find((p) => p[3] === e.key);
    if (found && where.id) location.hash = link(where.id, found[0]);
    return;
  }
  const button = /^(BUTTON|A|SUMMARY)$/.test(e.target.tagName);
  if (e.key === 'g') prefix = true;
  else if (e.key === '?') help();
  else if (e.key === '/') { const f = document.getElementById('filter'); if (f) { f.focus(); e.preventDefault(); } }
  else if (e.key === 'j' && where.id) choose(1);
  else if (e.key === 'k' && where.id) choose(-1);
  else if (e.key === 'Enter' && !button && where.id && selected() !== null) location.hash = link(where.id, 't/' + selected());
  else if (e.key === 'p' && where.id && selected() !== null) { const list = pins(), n = selected(); setParam('pin', (list.includes(n) ? list.filter((x) => x !== n) : [...list, n]).join(',')); page.update(); }
  else if (/^[0lt]$/.test(e.key)) /** @type {any} */ (document.querySelector('.chart:hover') || document.querySelector('.chart'))?.chart.key(e);
  else if (e.key === ' ' && !button && e.target.type !== 'checkbox') { e.preventDefault(); know.held = !know.held; know.waiting = 0; update(); }
});

on(window, 'hashchange', () => { if (/token=/.test(location.hash)) start(); else go(); });
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => applyTheme(theme()));
// Ages are told in seconds, and only while somebody looks.
setInterval(() => { if (!document.hidden && !know.held && line && !FILE) line.update(); }, 1000);

async function start() {
  applyTheme(theme());
  try { if (!FILE) await logIn(); } catch (error) { return refused(error); }
  await go();
}
start();
