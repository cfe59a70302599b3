// The pages. Each is {title, parts, node, update}: `parts` is what it needs, `update` shows what is known by now.
import {el, fill, tool, choice, section, scrolls, wait, note, on, sentence, num, digits, cost, costShort, plural, percent, clock, ago, duration, state, spark, table, value, configText, copyButton, ansi, bytes, shown, cut, csv, save} from './base.js';
import {know, now, of, link, insight, get, ask, param, setParam, pins, selected, complaint, FILE} from './data.js';
import {unit, metric, burndown, outlook, curves, planCosts, planValues, calibrationChart, errorsChart, costValue, certificate, timeline, parameter, parallel, finalsLegend, compareChart, chanceOver, held80, accruing, kindWords, kindLook, training, budgetText, mayGrow} from './charts.js';
import {Chart, STATE_COLOUR, fillLegend} from './chart.js';

export const trialLink = (n, text) => el('a', {href: link(know.id, 't/' + n)}, text || 'trial ' + n);

// Fills a node only if what it is made of has changed, so that focus and selection stay where they are.
function slot(node, key, build) {
  const text = JSON.stringify(key);
  if (node.slotKey_ === text) return node;
  node.slotKey_ = text;
  return fill(node, build());
}

function card(title, body, id) { return el('section', {class: 'card', 'aria-labelledby': id}, el('h2', {id}, title), body); }

function search(label, hint, changed) {
  const box = el('input', {type: 'search', id: 'filter', value: param('q') || '', placeholder: hint, 'aria-label': label, oninput: () => { setParam('q', box.value); changed(); }});
  return box;
}

// ---- The state line: alive? anything wrong?

const furtherCommand = (s) => s.command + ' --budget ' + budgetText(2 * s.budget.total);

// `whole`: with the end of the log of a study of which every trial fails.
export function stateLine(whole) {
  const line = el('div', {class: 'stateline'}), ruin = el('div', {}), node = el('div', {}, line, ruin);
  let shownFailure = null;
  // Many in a row have the same cause: the end of the last one's log.
  const showFailure = async (s) => {
    const many = whole && !FILE && s.failures_in_a_row >= 10, key = many ? s.trials.failed : null;
    if (key === shownFailure) return;
    shownFailure = key;
    if (!many) return fill(ruin);
    try {
      const base = of(know.id, 'trials'), last = (await get(base + '?state=failed&sort=-trial&limit=1')).trials[0], log = await get(base + '/' + last.trial + '/log?bytes=4096');
      fill(ruin, section(el('h2', {}, 'End of the log of trial ' + last.trial), el('pre', {class: 'log', ...scrolls('End of the log of the last failed trial')}, ansi(log.text))));
    } catch (error) { fill(ruin, complaint(error)); }
  };
  const update = () => {
    const s = know.study;
    if (!s) return;
    const t = s.trials, total = Object.values(t).reduce((a, b) => a + b, 0);
    const counts = Object.entries(t).filter(([, n]) => n).map(([name, n]) => name === 'failed' ? el('strong', {class: 'bad'}, n + ' failed') : n + ' ' + name).flatMap((c, i) => (i ? [', ', c] : [c]));
    showFailure(s);
    slot(line, [s.state, s.policy, s.workers, t, s.changed, s.damage, s.finish_reason, Math.floor(now() / (now() - s.changed < 60 ? 1 : 15)), s.failures_in_a_row, s.error], () => [
      state(s.state), ' \u00b7 ', s.policy, ' \u00b7 ', s.state === 'running' ? el('span', {title: s.controller && 'run by process ' + s.controller.pid + ' on ' + s.controller.host + ' since ' + new Date(s.controller.since * 1000).toLocaleString()}, s.workers.busy + ' of ' + plural(s.workers.of, 'worker') + ' busy \u00b7 ') : '', plural(total, 'trial'), total ? ': ' : '', counts,
      s.changed ? ' \u00b7 last event ' + (FILE ? 'at ' + new Date(s.changed * 1000).toLocaleString() : ago(Math.max(0, now() - s.changed))) : '',
      s.damage ? el('p', {class: 'bad'}, 'The log is damaged: ' + s.damage + '. Shown is the study before that.') : null,
      s.state === 'interrupted' ? el('p', {class: 'warn'}, 'Interrupted, nothing is lost. ', s.command ? ['Continue: ', el('code', {}, s.command), ' ', copyButton(s.command, 'Copy the command')] : 'Run its program again to continue.') : null,
      s.state === 'finished' ? el('p', {}, 'Finished: ' + s.finish_reason + '. ', s.command ? ['Continue: ', el('code', {}, furtherCommand(s))] : null) : null,
      s.failures_in_a_row >= 5 ? el('p', {class: 'bad'}, plural(s.failures_in_a_row, 'trial') + ' failed in a row; see ', el('a', {href: link(know.id, 'trials?st=failed')}, 'the failed trials'), '.') : null]);
  };
  return {node, update};
}

// ---- Overview

function bestCard() {
  const body = el('div', {});
  return {node: card('Best', body, 'h-best'), update: () => {
    const b = know.study.best;
    slot(body, [b], () => b ? [
      el('p', {class: 'big'}, metric() + ' ', el('strong', {id: 'best-value', title: String(b.value)}, num(b.value)), ' ', b.standard_error == null ? '' : '\u00b1 ' + num(b.standard_error) + ' ', el('small', {}, b.trainings > 1 ? 'mean of ' + b.trainings + ' trainings, the best of them: ' : '', trialLink(b.trial), ', epoch ' + b.epoch)),
      el('p', {class: 'config'}, Object.entries(b.config).map(([k, v]) => [el('span', {title: String(v)}, k + '=', el('strong', {}, value(v))), ' '])),
      b.checkpoint ? el('p', {class: 'path'}, el('code', {}, b.checkpoint), ' ', copyButton(b.checkpoint, 'Copy the path of the model')) : el('p', {class: 'path'}, 'no model was saved'),
      b.checkpoint_note ? note(sentence(b.checkpoint_note)) : null] : wait('No report yet.'));
  }};
}

function budgetBar(spending, total, committed) {
  const sum = Object.values(spending).reduce((a, b) => a + b, 0), full = Math.max(total, sum) || 1;
  const part = (look, v) => { const bar = el('span', {class: look}); bar.style.width = 100 * v / full + '%'; return bar; };
  return el('div', {class: 'budgetbar', role: 'img', 'aria-label': percent(sum / full) + ' of the budget is spent'},
            Object.entries(spending).map(([k, v]) => v > 0 && part(kindLook(k), v)), committed > 0 && part('k-committed h1', Math.min(committed, full - sum)));
}
const kindKey = (k) => el('span', {class: 'key ' + kindLook(k), 'aria-hidden': 'true'});

function budgetCard() {
  const body = el('div', {});
  return {node: card('Budget', body, 'h-budget'), update: () => {
    const s = know.study, b = s.budget, u = b.unit, extra = accruing();
    slot(body, [b, s.committed, s.spending, s.ends_at && Math.round(s.ends_at), s.deadline, s.state, Math.round(extra / Math.max(b.total, 1) * 200)], () => [
      budgetBar(s.spending, b.total, s.state === 'running' ? s.committed : 0),
      el('p', {class: 'big'}, el('strong', {id: 'spent-value', title: String(b.spent)}, costShort(b.spent, u)), ' of ', el('span', {id: 'total-value', title: String(b.total)}, cost(b.total, u)), el('small', {}, s.committed > 0 && s.state === 'running' ? ' \u00b7 ' + cost(s.committed, u) + ' committed' : '', extra > 0.5 ? ' \u00b7 about ' + cost(extra, u) + ' more not reported yet' : '')),
      el('p', {class: 'kinds'}, b.spent > 0 ? Object.entries(s.spending).filter(([k, v]) => v > 0 || k === 'failed').map(([k, v]) => [el('span', {}, kindKey(k), ' ' + kindWords(k) + ' ' + (100 * v / b.spent).toFixed(1) + ' %'), ' ']) : 'nothing spent yet'),
      el('p', {}, s.state === 'finished' || s.state === 'interrupted' ? cost(b.remaining, u) + ' left' + (s.committed > 0 ? ', ' + cost(s.committed, u) + ' of it to trials that were interrupted' : '') : s.ends_at ? ['ends about ', el('strong', {}, clock(s.ends_at)), s.left_at_end > 0.005 * b.total ? ' with ' + cost(s.left_at_end, u) + ' left' : ''] : 'its end is not known yet', s.deadline ? ' \u00b7 deadline ' + clock(s.deadline) : '')]);
  }};
}

// The latest decisions besides the one that is told in full.
function recentList(recent, latest) {
  const list = recent.filter((d) => !latest || d.seq !== latest.seq).slice(0, 6);
  return list.length ? [el('h3', {}, 'Earlier'), el('ul', {class: 'recent'}, list.map((d) => el('li', {}, el('small', {class: 'n'}, know.study.began ? duration(d.at - know.study.began) : ''), ' ', el('a', {href: link(know.id, 'decisions?open=' + d.seq)}, '#' + d.seq), ' ' + d.decision)))] : [];
}

// What the budget has bought, and what more of it would bring.
function finishedWords(s, w) {
  const steps = know.answers.incumbent ? know.answers.incumbent.steps : [], total = Object.values(s.trials).reduce((a, b) => a + b, 0), more = w && w.rows.length ? w.rows.at(-1) : null;
  return [
    el('p', {}, cost(s.budget.spent, s.budget.unit) + ' bought ' + plural(total, 'trial'), steps.length ? ', and took ' + s.spec.metric + ' from ' + num(steps[0].value) + ' to ' + num(steps.at(-1).value) + '.' : '.'),
    more && s.best ? el('p', {}, 'As much again would be expected to bring it to ' + num(more.best) + ' (80 %: ' + num(more.low) + ' to ' + num(more.high) + ').') : null,
    s.command ? el('p', {}, el('code', {}, furtherCommand(s)), ' ', copyButton(furtherCommand(s), 'Copy the command')) : null];
}

function nowCard() {
  const body = el('div', {});
  return {node: card('Now', body, 'h-now'), update: () => {
    const s = know.study, plan = insight('plan'), d = s.latest;
    const next = s.state !== 'finished' && plan && plan.decision && !s.running.some((r) => r.trial === plan.decision.trial) && plan.decision, w = insight('what-if'), recent = know.answers['decisions?limit=7'] ? know.answers['decisions?limit=7'].decisions : [];
    slot(body, [d && d.seq, s.running.map((r) => [r.trial, r.epochs, r.until, r.last]), next, s.state, recent.map((r) => r.seq), s.state === 'finished' && [w && w.rows.at(-1), know.answers.incumbent && know.answers.incumbent.steps.length]], () => [
      d ? el('div', {class: 'decision'}, el('p', {}, el('small', {}, s.began ? duration(d.at - s.began) + ' ' : ''), el('a', {href: link(know.id, 'decisions?open=' + d.seq)}, '#' + d.seq), ' ', el('strong', {}, d.decision)), note(cut(inWords(d), 700))) : wait('Nothing has been decided yet.'),
      s.state === 'finished' ? null : s.running.length ? el('ul', {class: 'running'}, s.running.map((r) => el('li', {}, trialLink(r.trial), el('span', {class: 'n'}, r.epochs + '/' + r.until), r.last === null ? el('span', {class: 'wait'}, 'starting for ' + duration(Math.max(0, Math.round(now() - r.since)))) : [el('strong', {}, num(r.last)), spark(r.spark)]))) : wait(s.state === 'running' ? 'No trial is running at this moment.' : 'Nothing is running.'),
      next ? el('p', {class: 'next'}, el('strong', {}, 'next '), nextText(next)) : null,
      s.state === 'finished' ? finishedWords(s, w) : null, recentList(recent, d)]);
  }};
}

// The reason of a decision as people read it, and what it was computed from.
const MODEL = / (?=On the model's scale|Log of the largest|Probability of success)/;
const inWords = (d) => (d.because || '').split(MODEL)[0];
const inNumbers = (d) => (d.because || '').split(MODEL).slice(1).join(' ');

function nextText(d) {
  if (d.action === 'start') return 'new trial ' + configText(d.config) + ' to epoch ' + d.until;
  if (d.action === 'resume') return ['continue ', trialLink(d.trial), ' to epoch ' + d.until];
  if (d.action === 'stop') return ['stop ', trialLink(d.trial)];
  return d.action === 'finish' ? 'finish: ' + d.reason : 'wait for the running trials';
}

// How old an answer of the planner is; empty while it is of the latest event.
function answerAge(record) {
  return record && record.as_of !== null && record.as_of < know.study.seq && !FILE ? 'As of event ' + record.as_of + ', ' + ago(Math.max(0, now() - record.computed_at)) + '. ' : '';
}

function ageOf(what) {
  const node = el('p', {class: 'note'});
  return {node, update: () => fill(node, answerAge(know.insight[what]))};
}

function insightAge() {
  const node = el('p', {class: 'note'});
  return {node, update: () => {
    const w = know.insight['what-if'], c = insight('certificate'), s = know.study;
    const planner = s.spec.policy.startsWith('bapi') ? '' : ' The study is run by ' + s.spec.policy + '; this is the view of bapi\u2019s planner.';
    if (!w || w.as_of === null) return fill(node, s.best ? 'The planner is at work.' + planner : 'The planner waits for the first report.');
    if (w.trouble) return fill(node, sentence(w.trouble));
    const gain = c && c.gains.length ? digits(c.gains[Math.floor(c.gains.length / 2)], 1) : 0;
    fill(node, answerAge(w),
         c && c.gains.length ? (gain > 0 ? 'Gain over ' + num(gain) : 'Any gain') + ': ' + percent(chanceOver(c.gains, gain)) + ' likely. ' : '',
         c && c.forecasts ? held80(c.within_80, c.forecasts) + ' so far' + (c.trusted ? '.' : ': not to be relied on.') : c ? 'No forecast has been checked yet.' : '', planner);
  }};
}

export function overview() {
  const best = bestCard(), budget = budgetCard(), happening = nowCard(), age = insightAge(), look = outlook(), lines = curves({few: true});
  const parts = [best, budget, look, happening, age, lines];
  return {title: 'Overview', parts: ['trials', 'curves', 'incumbent', 'decisions?limit=7', '?plan', '?what-if', '?forecast', '?certificate'],
          node: el('div', {}, el('div', {class: 'cards'}, best.node, budget.node, el('section', {class: 'card wide'}, look.node, age.node), happening.node), section(lines.node)),
          update: () => parts.forEach((p) => p.update())};
}

// ---- Curves

export function curvesPage() {
  const choose = (name, label, options) => el('label', {}, label + ' ', choice(label, options, param(name) || options[0][0], (v) => { setParam(name, v === options[0][0] ? null : v); chart.update(); }));
  const chart = curves();
  const bar = el('div', {class: 'filters'});
  return {title: 'Curves', parts: ['trials', 'curves', '?forecast' + (pins().length ? '?trials=' + pins().join(',') : '')], node: el('div', {}, bar, el('section', {class: 'card tall'}, chart.node), pinList()), update: () => {
    slot(bar, [know.id], () => [choose('by', 'colour by', [['state', 'state'], ['value', 'rank'], ...know.study.spec.space.filter((p) => p.kind !== 'constant').map((p) => [p.name, p.name])]), choose('over', 'over', [['epoch', 'epochs'], ['cost', 'cost of the trial']])]);
    chart.update();
  }};
}

function pinList() {
  return note('Click a curve, or press p on a selected trial, to pin it', pins().length ? [': pinned ', pins().map((n) => [trialLink(n), ' '])] : '.');
}

// ---- Trials: a virtual table

const ROW = 34;

export function trialsPage() {
  const filter = search('Filter trials', 'filter, as lr=0.1 or 22', () => again());
  const again = () => { box.scrollTop = 0; show(); };
  const states = choice('State', [['', 'all states'], ...Object.keys(STATE_COLOUR).map((s) => [s, s])], param('st'), (v) => { setParam('st', v); again(); });
  const count = el('output', {class: 'note'}), head = el('tr', {}), body = el('tbody', {}), rest = el('div', {class: 'picked'});
  const grid = el('table', {class: 'trials'}, el('thead', {}, head), body);
  const box = el('div', {class: 'tablebox virtual', ...scrolls('Trials'), onscroll: () => requestAnimationFrame(rows)}, grid);
  const columns = () => ['trial', 'state', 'best', 'epochs', 'spent', ...know.study.spec.space.map((p) => 'config.' + p.name)];
  const words = (c) => c === 'trial' || c === 'state' || know.study.spec.space.some((p) => 'config.' + p.name === c && typeof (p.options ? p.options[0] : p.value) === 'string');
  const cell = (t, c) => (c.startsWith('config.') ? t.config[c.slice(7)] : t[c]);
  let list = [];
  const sorted = () => {
    const sort = param('sort') || 'trial', down = sort.startsWith('-'), key = down ? sort.slice(1) : sort, q = (param('q') || '').toLowerCase(), st = param('st');
    list = know.trials.filter((t) => (!st || t.state === st) && (!q || ('trial ' + t.trial + ' ' + t.state + ' ' + configText(t.config)).toLowerCase().includes(q) || String(t.trial) === q));
    list.sort((a, b) => {
      const x = cell(a, key), y = cell(b, key), none = (v) => v === null || v === undefined;
      if (none(x) || none(y)) return +none(x) - +none(y);
      return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
    });
  };
  const header = () => fill(head, columns().map((c) => {
    const sort = param('sort') || 'trial', on = sort.replace('-', '') === c, down = sort.startsWith('-');
    return el('th', {scope: 'col', class: (words(c) ? '' : 'n ') + (c.startsWith('config.') || c === 'spent' || c === 'epochs' ? 'extra' : ''), 'aria-sort': on ? (down ? 'descending' : 'ascending') : null}, el('button', {type: 'button', class: 'sort', id: 'sort-' + c, onclick: () => { setParam('sort', on && !down ? '-' + c : c); show(); }}, c.replace('config.', '') + (c === 'spent' ? ' (' + unit() + ')' : ''), on ? (down ? ' \u2193' : ' \u2191') : ''));
  }));
  const made = new Map();  // rows in the document, by trial: scrolling makes only those that come into view
  const space = (n) => { const r = el('tr', {'aria-hidden': 'true'}, el('td', {colspan: columns().length})); r.style.height = n * ROW + 'px'; return n > 0 ? r : null; };
  // What a narrow screen leaves out of a row stands below, once the row is chosen.
  const pickRow = (t) => { setParam('sel', t.trial === selected() ? null : String(t.trial)); show(); };
  const showRest = () => { const t = know.trials.find((r) => r.trial === selected()); fill(rest, t ? [trialLink(t.trial), ' \u00b7 ' + plural(t.epochs, 'epoch') + ' \u00b7 ' + cost(t.spent, unit()) + ' \u00b7 ' + configText(t.config)] : ''); };
  const row = (t) => el('tr', {class: t.trial === selected() ? 'selected' : null, onclick: () => pickRow(t)}, columns().map((c) => c === 'trial' ? el('th', {scope: 'row'}, trialLink(t.trial, String(t.trial))) : c === 'state' ? el('td', {}, state(t.state)) : el('td', {class: (words(c) ? '' : 'n') + (c !== 'best' ? ' extra' : ''), title: cell(t, c) ?? null}, c === 'spent' ? costShort(t.spent, unit()) : cut(value(cell(t, c)), 40))));
  const rows = () => {
    const from = Math.max(0, Math.floor(box.scrollTop / ROW) - 10), shownOnes = list.slice(from, from + Math.min(50, Math.ceil(box.clientHeight / ROW) + 20)), kept = new Set(shownOnes.map((t) => t.trial));
    for (const trial of made.keys()) if (!kept.has(trial)) made.delete(trial);
    fill(body, space(from), shownOnes.map((t) => {
      const old = made.get(t.trial), key = JSON.stringify([t, t.trial === selected()]);
      if (!old || old.key !== key) made.set(t.trial, {key, node: row(t)});
      return made.get(t.trial).node;
    }), space(list.length - from - shownOnes.length));
  };
  const show = () => {
    sorted();
    header();
    grid.style.minWidth = innerWidth > 600 ? 84 * columns().length + 'px' : '';
    rows();
    showRest();
    fill(count, plural(list.length, 'trial') + (list.length < know.trials.length ? ' of ' + know.trials.length : ''));
  };
  return {title: 'Trials', parts: ['trials'], list: () => list,
          node: section(el('div', {class: 'filters'}, filter, states, count, tool('CSV', null, () => save('trials.csv', new Blob([csv(columns(), list.map((t) => columns().map((c) => cell(t, c) ?? null)))], {type: 'text/csv'})))), box, rest), update: show};
}

// ---- Plan, budget, model, parameters

export function planPage() {
  const costs = planCosts(), values = planValues(), look = outlook(), age = insightAge(), next = el('p', {class: 'note'});
  return {title: 'Plan', parts: ['incumbent', '?plan', '?what-if', '?certificate'], node: el('div', {}, el('div', {class: 'cards'}, section(costs.node), section(values.node)), next, section(look.node, age.node)), update: () => {
    [costs, values, look, age].forEach((c) => c.update());
    const p = insight('plan');
    fill(next, answerAge(know.insight.plan), p && p.decision ? ['What the policy ' + know.study.spec.policy + ' would do next: ', nextText(p.decision), p.decision.rule ? ' (rule ' + p.decision.rule + ')' : ''] : '');
  }};
}

export function budgetPage() {
  const burn = burndown(), time = timeline(), values = costValue(), body = el('div', {});
  return {title: 'Budget', parts: ['burndown', 'timeline', 'trials'], node: el('div', {}, section(burn.node), section(time.node), section(values.node), card('Spending by kind', body, 'h-kinds')), update: () => {
    [burn, time, values].forEach((c) => c.update());
    const s = know.study;
    slot(body, s.spending, () => table(['kind', 'spent', 'share'], Object.entries(s.spending).filter(([k, v]) => v > 0 || k === 'epoch' || k === 'failed').map(([k, v]) => [[kindKey(k), ' ' + kindWords(k)], el('span', {title: String(v)}, costShort(v, unit())), s.budget.spent ? (100 * v / s.budget.spent).toFixed(1) + ' %' : '\u2013'])));
  }};
}

export function modelPage() {
  const proof = certificate(), age = ageOf('certificate'), charts = [calibrationChart(), proof, errorsChart()], cards = charts.map((c) => section(c.node, c === proof ? age.node : null));
  return {title: 'Model', parts: ['calibration', '?certificate'], node: el('div', {}, el('div', {class: 'cards'}, cards.slice(0, 2)), cards[2]), update: () => [...charts, age].forEach((c) => c.update())};
}

export function paramsPage() {
  const bar = el('div', {class: 'filters'}), signs = el('ul', {class: 'legend'}), grid = el('div', {class: 'multiples'}), wide = el('section', {class: 'card tall'});
  let charts = [];
  return {title: 'Params', parts: ['trials', '?forecast'], node: el('div', {}, bar, grid, wide), update: () => {
    slot(grid, [know.id, know.study.spec.space], () => {
      const params = know.study.spec.space.filter((p) => p.kind !== 'constant');
      const box = choice('Value shown', [['forecast', 'forecast at the last epoch'], ['measured', 'best value measured']], param('of') || 'forecast', (v) => { setParam('of', v === 'forecast' ? null : v); charts.forEach((c) => c.update()); fillLegend(signs, finalsLegend()); });
      fill(bar, el('label', {}, 'value shown ', box), signs);
      const all = parallel(params);
      charts = [...params.map(parameter), all];
      fill(wide, all.node);
      return charts.slice(0, -1).map((c) => section(c.node));
    });
    charts.forEach((c) => c.update());
    fillLegend(signs, finalsLegend());
  }};
}

// ---- Decisions

// Predicted value with its band, and the one that came; hollow until it is known.
function strip(d) {
  const f = d.reason && d.reason.forecast;
  if (!f || !(f.shown_sd > 0)) return null;
  const z = 1.2816, came = d.came_true && d.came_true.value, low = Math.min(f.mean - 2.5 * f.shown_sd, came ?? f.mean), high = Math.max(f.mean + 2.5 * f.shown_sd, came ?? f.mean), x = (v) => 4 + 192 * (v - low) / (high - low);
  return el('svg', {class: 'strip', viewBox: '0 0 200 16', role: 'img', 'aria-label': 'predicted ' + num(f.mean) + ', came ' + (came === null || came === undefined ? 'not yet' : num(came))},
            el('line', {x1: x(f.mean - z * f.shown_sd), x2: x(f.mean + z * f.shown_sd), y1: 8, y2: 8, class: 'band'}), el('rect', {x: x(f.mean) - 1, y: 3, width: 2, height: 10, class: 'mean'}), came === null || came === undefined ? el('rect', {x: x(f.mean) - 4, y: 4, width: 8, height: 8, class: 'hollow'}) : el('rect', {x: x(came) - 4, y: 4, width: 8, height: 8, class: 'came'}));
}

function numbersOf(record, prefix) {
  return Object.entries(record || {}).flatMap(([k, v]) => (v && typeof v === 'object' && !Array.isArray(v) ? numbersOf(v, prefix + k + '.') : [[prefix + k, Array.isArray(v) ? v.map((n) => (n && typeof n === 'object' ? configText(n) : value(n))).join('; ') : typeof v === 'number' ? v : shown(v)]]));
}

function decisionItem(d, open) {
  const item = el('details', {class: 'decisionitem', open, id: 'd' + d.seq}, el('summary', {}, el('small', {class: 'n'}, know.study.began ? duration(d.at - know.study.began) : ''), ' #' + d.seq + ' ', el('span', {}, d.decision), d.rule ? el('small', {}, ' ' + d.rule) : null));
  const unfold = () => {
    if (item.filled) return;
    item.filled = true;
    const c = d.came_true, f = d.reason && d.reason.forecast, price = d.reason && d.reason.price, part = d.segment, rival = d.reason && d.reason.rival;
    item.append(el('div', {class: 'why'}, d.because ? el('p', {}, inWords(d)) : null,
        f ? el('p', {}, 'predicted ' + num(f.mean) + ' \u00b1 ' + num(f.shown_sd) + ' at epoch ' + f.epoch + (c && c.value !== null ? ' \u00b7 it was ' + num(c.value) : ' \u00b7 not known yet'), ' ', strip(d)) : null,
        part && part.expected_cost !== null ? el('p', {}, 'training to epoch ' + part.until + ': ' + cost(part.expected_cost, unit()) + ' expected' + (c && c.cost !== null ? ' \u00b7 it was ' + cost(c.cost, unit()) : ''), price && price.until > part.until ? ' \u00b7 ' + cost(price.cost, unit()) + ' expected to epoch ' + price.until : '') : null,
        el('p', {}, d.trial !== null ? trialLink(d.trial) : null, rival && rival.trial !== undefined && rival.trial !== null ? [' \u00b7 runner-up ', trialLink(rival.trial)] : null),
        el('div', {class: 'tablebox', ...scrolls('All numbers of decision ' + d.seq)}, table(['number', 'value'], numbersOf(d.reason, ''))), note(inNumbers(d))));
  };
  on(item, 'toggle', unfold);
  if (open) unfold();
  return item;
}

export function decisionsPage() {
  const filter = search('Filter decisions', 'filter words', () => show());
  const trial = el('input', {type: 'text', inputmode: 'numeric', size: '6', value: param('trial') || '', 'aria-label': 'Trial', placeholder: 'all', oninput: () => { setParam('trial', trial.value); show(); }});
  const kind = choice('Kind of decision', [['', 'all decisions'], ...['start', 'continue', 'stop'].map((k) => [k, k])], param('kind'), (v) => { setParam('kind', v); show(); });
  const feed = el('div', {class: 'feed'}), count = el('output', {class: 'note'}), items = new Map();
  let most = 100;
  const more = el('button', {type: 'button', onclick: () => { most += 200; show(); }}, 'show older ones');
  const show = () => {
    const record = know.answers['decisions?limit=2000'];
    more.hidden = true;
    if (!record) return fill(feed, el('p', {class: 'wait loading'}, 'Reading the study.'));
    const q = (param('q') || '').toLowerCase(), t = param('trial'), open = Number(param('open')), only = param('kind');
    const list = record.decisions.filter((d) => (!only || d.decision.startsWith(only)) && (!t || String(d.trial) === t) && (!q || (d.decision + ' ' + d.rule + ' ' + d.because).toLowerCase().includes(q)));
    fill(feed, list.slice(0, most).map((d) => {
      const known = items.get(d.seq), key = JSON.stringify(d.came_true);
      if (known && (known.key === key || known.node.open)) return known.node;
      items.set(d.seq, {key, node: decisionItem(d, d.seq === open)});
      return items.get(d.seq).node;
    }));
    fill(count, plural(list.length, 'decision') + (record.total > record.decisions.length ? ', the latest ' + record.decisions.length + ' of ' + record.total : ''));
    more.hidden = list.length <= most;
  };
  return {title: 'Decisions', parts: ['decisions?limit=2000'], node: section(el('div', {class: 'filters'}, filter, kind, el('label', {}, 'trial ', trial), count), feed, more), update: show};
}

// ---- A trial

// The other metrics of a trial's reports: a small chart each.
function metricCharts(n, reports) {
  const charts = new Map(), node = el('div', {class: 'multiples'});
  return {node, update: () => {
    const names = [...new Set(reports().flatMap((p) => Object.keys(p.metrics || {})))].slice(0, 12);
    for (const name of names.filter((m) => !charts.has(m))) {
      const chart = new Chart('metric-' + name, name, () => {
        const points = reports().filter((p) => p.metrics && typeof p.metrics[name] === 'number'), xs = points.map((p) => p.epoch), ys = points.map((p) => p.metrics[name]);
        if (!points.length) return {empty: 'No value yet.'};
        return {x: {label: 'epoch', low: 0}, y: {label: name}, marks: [{type: 'line', xs, ys, colour: 'blue'}, {type: 'dots', xs, ys, colour: 'blue', size: 2}], sample: ys, points: points.map((p, i) => ({x: xs[i], y: ys[i], label: 'epoch ' + p.epoch + ': ' + num(ys[i])})),
                caption: 'At epoch ' + xs[0] + ', ' + name + ' was ' + num(ys[0]) + (xs.length > 1 ? '; at epoch ' + xs.at(-1) + ', ' + num(ys.at(-1)) : '') + '.', table: {head: ['epoch', name], rows: points.map((p, i) => [xs[i], ys[i]])}};
      }, {logAxis: 'y', small: true});
      charts.set(name, chart);
      node.append(section(chart.node));
    }
    charts.forEach((chart) => chart.update());
  }};
}

// Asks twice: a trial that was stopped is never resumed.
function stopButton(n) {
  const tell = el('span', {role: 'status', class: 'tell'});
  const button = el('button', {type: 'button', class: 'stop', onclick: () => {
    if (button.sure) { ask({action: 'stop_trial', trial: n}, tell); button.hidden = true; return; }
    button.sure = true;
    fill(button, 'Stop it for good?');
  }}, 'Stop this trial');
  return el('p', {}, button, ' ', tell);
}

export function trialPage(n) {
  const facts = el('div', {}), stop = el('div', {}), story = el('div', {class: 'feed'}), money = el('div', {}), files = el('div', {}), log = el('pre', {class: 'log', ...scrolls('Text of the log')});
  const part = 'trials/' + n;
  let followLog = true, asked = 0, size = -1;
  on(log, 'scroll', () => { followLog = log.scrollTop + log.clientHeight >= log.scrollHeight - 8; });
  const readLog = async () => {
    if (FILE && !(of(know.id, part + '/log') in FILE.answers)) return fill(log, 'Logs are not part of this report.');
    if (Date.now() - asked < 1000) return;
    asked = Date.now();
    try {
      const record = await get(of(know.id, part + '/log'));
      if (record.size === size) return;
      size = record.size;
      fill(log, record.size ? ansi(record.text) : 'The log is empty.');
      if (followLog) log.scrollTop = log.scrollHeight;
    } catch (error) { fill(log, error.message); }
  };
  const chart = new Chart('trial', 'Curve of trial ' + n, () => {
    const t = know.answers[part], f = t && mayGrow(t.state) && (insight('forecast') || []).find((x) => x.trial === n);
    if (!t || !t.curve.length) return {empty: 'This trial has not reported yet.'};
    const xs = t.curve.map((p) => p.epoch), ys = t.curve.map((p) => p.value), /** @type {any[]} */ marks = [{type: 'line', xs, ys, colour: STATE_COLOUR[t.state], width: 2}, {type: 'dots', xs, ys, colour: STATE_COLOUR[t.state], size: 2}];
    const inc = know.study.best;
    if (inc) marks.push({type: 'rule', y: inc.value, label: 'best', fit: true});
    if (f && f.course && f.course.length > 1) {
      marks.push({type: 'area', xs: f.course.map((p) => p.epoch), low: f.course.map((p) => p.low), high: f.course.map((p) => p.high), colour: 'purple', alpha: 0.15}, {type: 'line', xs: f.course.map((p) => p.epoch), ys: f.course.map((p) => p.expected), colour: 'purple', dash: [4, 3]});
      if (f.stop > t.epochs) marks.push({type: 'rule', x: f.stop, label: 'flat by ' + f.stop, colour: 'purple'});
    }
    return {x: {label: 'epoch', low: 0}, y: {label: metric()}, marks, sample: ys, points: t.curve.map((p) => ({x: p.epoch, y: p.value, label: 'epoch ' + p.epoch + ': ' + num(p.value) + ', cost ' + cost(p.cost, unit())})),
            caption: 'At epoch ' + xs[0] + ', ' + metric() + ' was ' + num(ys[0]) + (xs.length > 1 ? '; the best is ' + num(t.best) + ' at epoch ' + t.best_epoch : '') + '.' + (f ? ' At the last epoch ' + num(f.final) + ' is expected (80 %: ' + num(f.low) + ' to ' + num(f.high) + '); the chance to beat the current best is ' + percent(f.chance_of_best) + '.' : ''),
            table: {head: ['epoch', metric(), 'cost'], rows: t.curve.map((p) => [p.epoch, p.value, p.cost])}};
  }, {logAxis: 'y'});
  const metrics = metricCharts(n, () => (know.answers[part] ? know.answers[part].curve : []));
  const node = el('div', {}, el('div', {class: 'cards'}, card('Trial ' + n, [facts, stop], 'h-facts'), section(chart.node)), metrics.node, el('div', {class: 'cards'}, card('Decisions', story, 'h-story'), card('What it cost', money, 'h-money')), card('End of the log', [log], 'h-log'), card('Checkpoint', files, 'h-files'));
  return {title: 'Trial ' + n, parts: [part, '?forecast?trials=' + n], node, update: () => {
    const t = know.answers[part], error = know.answers[part + '!'];
    if (!t) return error ? fill(node, complaint(error)) : undefined;
    const best = know.study.best, own = best && best.trial === n;
    slot(facts, [t.state, t.epochs, t.best, t.spent, t.failure, best && best.trial], () => [
      el('p', {}, state(t.state), ' \u00b7 ' + t.epochs + ' of ' + know.study.spec.epochs.max + ' epochs' + (t.segment ? ', training to ' + t.segment.until : ''), own ? ' \u00b7 the best of the study' : ''),
      t.best === null ? wait('No report yet.') : el('p', {class: 'big'}, metric() + ' ', el('strong', {title: String(t.best)}, num(t.best)), el('small', {}, ' at epoch ' + t.best_epoch)),
      t.failure ? el('p', {class: 'bad'}, 'Failed: ' + t.failure) : null,
      table(['parameter', 'value', ...(own || !best ? [] : ['best trial'])], Object.entries(t.config).map(([k, v]) => [k, el('span', {title: String(v), class: typeof v === 'number' ? 'whole' : null}, cut(value(v), 200)), ...(own || !best ? [] : [best.config[k] === v ? 'the same' : el('strong', {}, value(best.config[k]))])]))]);
    const open = mayGrow(t.state) && !FILE && !know.readOnly && know.study.state !== 'finished';
    slot(stop, [open], () => (open ? stopButton(n) : []));
    chart.update();
    metrics.update();
    slot(story, t.decisions.map((d) => [d.seq, d.came_true]), () => t.decisions.map((d) => decisionItem(d, false)));
    slot(money, t.spending, () => [el('p', {}, cost(t.spent, unit()) + ', ' + cost(t.overhead, unit()) + ' of it overhead'), t.spent > 0 && table(['kind', 'spent'], Object.entries(t.spending).filter(([, v]) => v > 0).map(([k, v]) => [kindWords(k), el('span', {title: String(v)}, costShort(v, unit()))]))]);
    slot(files, t.files, () => t.files.length ? table(['file', 'size'], t.files.map((f) => [f.name, bytes(f.bytes)])) : wait('Nothing has been saved.'));
    readLog();
  }};
}

// ---- The list of studies

export function studiesPage() {
  const filter = search('Filter studies', 'filter', () => show()), list = el('div', {class: 'studies'}), chosen = new Set((param('s') || '').split(',').filter(Boolean));
  const compare = el('a', {class: 'button', href: '#/compare'}, 'compare'), bar = el('div', {class: 'filters'}, filter, compare);
  const choose = (id, on) => { if (on) chosen.add(id); else chosen.delete(id); setParam('s', [...chosen].join(',')); compare.href = '#/compare?s=' + [...chosen].join(','); compare.hidden = chosen.size < 2; };
  const entry = (s) => s.error || !s.budget ? el('section', {class: 'card study'}, el('h2', {}, s.name), el('p', {}, state(s.state)), s.error ? el('p', {class: 'bad'}, s.error) : wait('being read')) : el('section', {class: 'card study'},
      el('div', {class: 'bar'}, el('h2', {}, el('a', {href: link(s.id)}, s.name)), el('label', {class: 'choose'}, el('input', {type: 'checkbox', id: 'compare-' + s.id, checked: chosen.has(s.id), onchange: (e) => choose(s.id, e.target.checked), 'aria-label': 'Compare ' + s.name}), ' compare')),
      el('p', {}, state(s.state), ' \u00b7 ' + s.policy, ' \u00b7 ', Object.entries(s.trials).filter(([, n]) => n).map(([k, n]) => n + ' ' + k).join(', ') || 'no trials'),
      el('p', {class: 'big'}, s.goal + ' ' + s.metric + ' ', el('strong', {}, s.best ? num(s.best.value) : '\u2013'), ' ', spark(s.spark || [], 'best value so far')),
      budgetBar({epoch: s.budget.spent}, s.budget.total, 0), note(costShort(s.budget.spent, s.budget.unit) + ' of ' + cost(s.budget.total, s.budget.unit) + (s.changed ? ' \u00b7 changed ' + ago(Math.max(0, now() - s.changed)) : '')));
  const show = () => {
    const q = (param('q') || '').toLowerCase(), order = [...know.studies].filter((s) => !q || (s.name + ' ' + s.id + ' ' + s.policy).toLowerCase().includes(q)).sort((a, b) => +(b.state === 'running') - +(a.state === 'running') || (b.changed || 0) - (a.changed || 0));
    compare.hidden = chosen.size < 2;
    compare.href = '#/compare?s=' + [...chosen].join(',');
    bar.hidden = !know.studies.length;
    slot(list, [order.map((s) => [s.id, s.state, s.budget, s.trials, s.best, s.error, s.changed && Math.floor((now() - s.changed) / 10)]), q], () => know.studies.length ? order.map(entry) : section(el('h2', {}, 'No study yet'), el('p', {}, 'Searched: ', know.searched.join(', '), ' and two levels below. Studies appear here as soon as they are created:'), el('pre', {}, 'bapi init              # writes a study file to fill in\nbapi run study.yaml    # tunes until the budget is spent')));
  };
  return {title: 'Studies', parts: [], node: el('div', {}, bar, list), update: show};
}

// ---- Several studies side by side

const FIGURES = {
  policy: (s) => s.policy,
  best: (s) => (s.best ? num(s.best.value) : null),
  spent: (s) => cost(s.budget.spent, s.spec.unit),
  overhead: (s) => (s.budget.spent ? percent(Math.max(0, 1 - training(s.spending) / s.budget.spent)) : null),
  trials: (s) => String(Object.values(s.trials).reduce((a, b) => a + b, 0)),
  'kept their 80 % interval': (s, v) => (v.count ? percent(v.within_80) + ' of ' + v.count : null),
};

export function comparePage() {
  const node = el('div', {}, wait('Reading the studies.')), ids = (param('s') || '').split(',').filter(Boolean).slice(0, 12);
  let charts = [];
  const load = async () => {
    const all = await Promise.all(ids.map(async (id) => {
      try {
        const base = of(id);
        const [study, incumbent, calibration] = await Promise.all([get(base), get(base + '/incumbent'), get(base + '/calibration')]);
        return {id, study, incumbent, calibration};
      } catch (error) { return {id, error}; }
    }));
    const good = all.filter((a) => !a.error), first = good[0];
    const same = good.filter((a) => a.study.spec.metric === first.study.spec.metric && a.study.spec.goal === first.study.spec.goal), sameUnit = same.every((a) => a.study.spec.unit === first.study.spec.unit);
    const others = all.filter((a) => !same.includes(a));
    charts = [...(sameUnit ? [compareChart('c-spent', 'Best over budget spent', same, 'spent')] : []), compareChart('c-share', 'Best over share of the budget', same, 'share'), compareChart('c-time', 'Best over time', same, 'time')];
    const names = [...new Set(same.flatMap((a) => Object.keys(a.study.best ? a.study.best.config : {})))];
    fill(node, el('div', {class: 'cards'}, charts.map((c) => section(c.node)), card('Best configurations', el('div', {class: 'tablebox', ...scrolls('Table of configurations')}, table(['parameter', ...same.map((a) => a.study.name)], names.map((k) => { const vs = same.map((a) => (a.study.best ? a.study.best.config[k] : null)), differ = vs.some((v) => v !== vs[0]); return [k, ...vs.map((v) => (differ ? el('strong', {}, value(v)) : value(v)))]; }))), 'h-configs')),
         card('Figures', el('div', {class: 'tablebox', ...scrolls('Table of figures')}, table(['figure', ...same.map((a) => el('a', {href: link(a.id)}, a.study.name))], Object.entries(FIGURES).map(([name, of]) => [name, ...same.map((a) => of(a.study, a.calibration.table[0]))]))), 'h-figures'),
         others.map((a) => el('p', {class: 'warn'}, a.id + ': ' + (a.error ? a.error.message : 'left out, it has the metric ' + a.study.spec.goal + ' ' + a.study.spec.metric + ', the others ' + first.study.spec.goal + ' ' + first.study.spec.metric))),
         note('One run each proves little: bapi compare repeats runs and tests the difference.'));
    charts.forEach((c) => c.update());
  };
  return {title: 'Compare', parts: [], node, ready: ids.length ? load() : null, update: () => { if (!ids.length) fill(node, wait('Choose two studies on the list of studies.')); charts.forEach((c) => c.update()); }};
}
