// The ten charts: each turns what is known into a description that Chart draws.
import {el, fill, on, sentence, num, digits, cost, costShort, plural, percent, clock, ago, duration, better, configText, value} from './base.js';
import {know, now, insight, pins, selected, setParam, param, FILE} from './data.js';
import {Chart, bulk, STATE_COLOUR, STATE_SHAPE} from './chart.js';

// The kinds of spending in the order of the server; one that is not listed here keeps its name.
const kinds = () => Object.keys(know.study.spending);
const KIND_COLOUR = {epoch: 'blue', 'start-up': 'orange', repeat: 'purple', unfinished: 'grey', grace: 'green', failed: 'vermilion', ahead: 'sky', unreported: 'ink', snapshot: 'yellow', lost: 'quiet'};
const KIND_WORDS = {epoch: 'epochs', repeat: 'repeated', snapshot: 'snapshots'};
// As `bapi status` tells training from overhead.
export const training = (spent) => spent.epoch + spent.ahead;
export const kindColour = (kind) => KIND_COLOUR[kind] || 'grey';
// Each kind has its colour, and all but training are hatched.
const kindHatch = (kind) => Math.max(0, Object.keys(KIND_COLOUR).indexOf(kind));
export const kindLook = (kind) => 'k-' + kind + (kindHatch(kind) ? ' h' + kindHatch(kind) % 4 : '');
export const kindWords = (kind) => KIND_WORDS[kind] || kind;

const READING = {empty: 'Reading the study.', loading: true};
export const unit = () => know.study.spec.unit;
export const metric = () => know.study.spec.metric;
const goal = () => know.study.spec.goal;
const sum = (list) => list.reduce((a, b) => a + b, 0);

/** @type {(trial: number) => void} */
let onPick = () => {};
export function whenPicked(f) { onPick = f; }
const pick = (key) => onPick(key);

// What running trials have spent since they last reported: not in the log yet, an estimate.
export function accruing() {
  const s = know.study;
  if (s.spec.meter !== 'seconds' || s.state !== 'running') return 0;
  return sum(s.running.map((r) => Math.max(0, now() - r.since))) * s.spec.per_second;
}

export function burndown() {
  return new Chart('burndown', 'Budget burn-down', () => {
    const record = know.answers.burndown, s = know.study;
    if (!record) return READING;
    if (!record.points.length) return {empty: 'Nothing has been spent yet.'};
    const points = record.points, KINDS = kinds(), xs = points.map((p) => p.at), total = points.map((p) => p.total);
    const spent = points.map((p) => sum(Object.values(p.spent)));
    const left = points.map((p, i) => Math.max(0, total[i] - spent[i]));
    const /** @type {any[]} */ marks = [{type: 'area', xs, low: left.map(() => 0), high: left, colour: 'blue', alpha: 0.12, step: true}];
    let base = left;
    const legend = [];
    KINDS.forEach((k) => {
      if (!points.at(-1).spent[k]) return;
      const look = {colour: kindColour(k), alpha: k === 'epoch' ? 0.45 : 0.9, hatch: kindHatch(k)}, top = base.map((b, j) => b + points[j].spent[k]);
      legend.push({text: kindWords(k), ...look});
      marks.push({type: 'area', xs, low: base, high: top, ...look, step: true});
      base = top;
    });
    marks.push({type: 'line', xs, ys: left, colour: 'ink', width: 2, step: true}, {type: 'line', xs, ys: total, colour: 'quiet', dash: [2, 2], step: true});
    const end = s.ends_at, last = xs.at(-1), rest = left.at(-1);
    if (s.committed > 0 && s.state === 'running') {
      const c = Math.min(rest, s.committed);
      marks.push({type: 'bars', bars: [{x0: last, x1: now(), y0: rest - c, y1: rest, colour: 'ink', hatch: 1, alpha: 0.8}]});
      legend.push({text: 'committed', colour: 'ink', hatch: 1, alpha: 0.8});
    }
    if (end) marks.push({type: 'line', xs: [last, end], ys: [rest, s.left_at_end], colour: 'ink', dash: [5, 4]}, {type: 'rule', x: end, label: 'ends about ' + clock(end), fit: true, down: 12});
    if (s.deadline) marks.push({type: 'rule', x: s.deadline, label: 'deadline', colour: 'vermilion', down: 26});
    const overhead = spent.at(-1) - training(points.at(-1).spent);
    return {
      legend: [{text: 'left', colour: 'blue', alpha: 0.12}, ...legend],
      x: {label: 'time', scale: 'time', tight: true}, y: {label: 'budget (' + unit() + ')', unit: unit(), low: 0}, marks,
      points: points.map((p, i) => ({x: xs[i], y: left[i], label: clock(xs[i]) + ': ' + cost(left[i], unit()) + ' left, ' + cost(spent[i], unit()) + ' spent'})),
      caption: costShort(spent.at(-1), unit()) + ' of ' + cost(total.at(-1), unit()) + ' spent, ' + percent(spent.at(-1) ? overhead / spent.at(-1) : 0) + ' of it on overhead' +
          (end ? '; at this rate it ends about ' + clock(end) + (s.left_at_end > 0.005 * total.at(-1) ? ', with ' + cost(s.left_at_end, unit()) + ' left.' : '.') : '.'),
      table: {head: ['time', 'total', 'left', ...KINDS], rows: points.map((p, i) => [new Date(xs[i] * 1000).toISOString(), total[i], left[i], ...KINDS.map((k) => p.spent[k])])},
    };
  });
}

// What the planner expects of every total budget from now on. Its answer may be of an earlier event; the best does not
// get worse meanwhile.
function outlookRows(w) {
  const spent = know.study.budget.spent, best = know.study.best ? know.study.best.value : null;
  const bound = (r, f) => ({...r, best: f(r.best, 'best'), low: f(r.low, 'low'), high: f(r.high, 'high')}), better_of = (a, b) => (better(a, b, goal()) ? a : b);
  const reached = (r) => bound(r, (v) => (best === null ? v : better_of(v, best)));
  // For the present total there is a plan of its own.
  const e = w.expected && w.total > spent ? reached({...w.expected, budget: w.total}) : null;
  const rows = w.rows.filter((r) => r.budget > spent && r.budget !== w.total).map(reached).map((r) => (e ? bound(r, (v, k) => (r.budget > w.total ? better_of(v, e[k]) : better(v, e[k], goal()) ? e[k] : v)) : r));
  const later = e ? [...rows.filter((r) => r.budget < w.total), {...e, runs: rows.findLast((r) => r.budget < w.total)?.runs ?? 0}, ...rows.filter((r) => r.budget > w.total)] : rows;
  return best === null ? later : [{budget: spent, best, low: best, high: best, runs: 0}, ...later];
}

function expectedAt(rows, budget) {
  let i = rows.findIndex((r) => r.budget >= budget);
  if (i < 0) return rows.at(-1);
  if (i === 0 || rows[i].budget === budget) return rows[i];
  const a = rows[i - 1], b = rows[i], t = (budget - a.budget) / (b.budget - a.budget), mix = (k) => a[k] + t * (b[k] - a[k]);
  return {budget, best: mix('best'), low: mix('low'), high: mix('high'), runs: a.runs};
}

export function outlook() {
  const said = el('output', {class: 'said'}), slider = el('input', {type: 'range', min: '0', max: '1000', step: '5', 'aria-label': 'Total budget to look at'});
  const command = el('span', {class: 'command'});
  const chosen = () => {
    const w = insight('what-if');
    if (!w) return null;
    const share = Number(param('budget') ?? Number.NaN);
    return isFinite(share) ? Math.min(w.to, Math.max(w.spent, share)) : w.total > w.spent ? w.total : Math.min(w.to, 1.5 * w.total);
  };
  const read = () => {
    const w = insight('what-if');
    slider.closest('.slider').hidden = !w;
    if (!w) return;
    const b = chosen(), at = expectedAt(outlookRows(w), b), best = know.study.best ? know.study.best.value : null;
    slider.value = String(Math.round(1000 * (b - w.spent) / (w.to - w.spent)));
    slider.setAttribute('aria-valuetext', cost(b, unit()) + ', expected ' + num(at.best));
    const gain = best === null ? 0 : Math.max(0, goal() === 'minimize' ? best - at.best : at.best - best), more = b - know.study.budget.spent;
    fill(said, 'at ' + cost(b, unit()) + ': ' + num(at.best) + ' expected (80 %: ' + num(at.low) + ' to ' + num(at.high) + '), a gain of ' + num(digits(gain, 2)) + (more > 0 ? ' for another ' + cost(more, unit()) : ''));
    const bigger = b > w.total * 1.0001 && know.study.command;
    fill(command, bigger ? ['to continue up to there: ', el('code', {}, know.study.command + ' --budget ' + budgetText(b))] : '');
  };
  on(slider, 'input', () => {
    const w = insight('what-if');
    setParam('budget', String(digits(w.spent + (w.to - w.spent) * slider.value / 1000, 4)));
    read();
    chart.update();
  });
  const chart = new Chart('outlook', 'Outlook', () => {
    const inc = know.answers.incumbent, w = insight('what-if');
    read();
    if (!inc) return READING;
    if (!inc.steps.length) return {empty: 'No report yet; the outlook needs one.'};
    const ahead = w ? outlookRows(w) : [];
    const budget = know.study.budget, steps = inc.steps, xs = [...steps.map((p) => p.spent), budget.spent], ys = [...steps.map((p) => p.value), steps.at(-1).value];
    // The frame holds what the best was from a tenth of the spending on: the first reports would make the rest a line.
    const early = steps.findLast((p) => p.spent <= 0.1 * budget.spent), sample = [...(early ? [early.value] : []), ...steps.filter((p) => p.spent > 0.1 * budget.spent).map((p) => p.value), steps.at(-1).value];
    // As much below the best as is hoped for above it, so that the reports on the way show.
    if (w && w.rows.length) sample.push(2 * steps.at(-1).value - (goal() === 'maximize' ? Math.max(...w.rows.map((r) => r.high)) : Math.min(...w.rows.map((r) => r.low))));
    const /** @type {any[]} */ marks = [{type: 'dots', xs: inc.dots.map((d) => d[0]), ys: inc.dots.map((d) => d[1]), colour: 'grey', alpha: 0.35, size: 1.8, off: true},
                   {type: 'line', xs, ys, step: true, colour: 'blue', width: 2, off: 'y'}, {type: 'rule', x: budget.spent, label: 'now', fit: true, side: 'left', foot: goal() === 'maximize'}];
    let words = 'The best ' + metric() + (steps.length > 1 ? ' went from ' + num(steps[0].value) + ' to ' + num(steps.at(-1).value) + ' in ' + plural(steps.length, 'step') + ', the last ' : ' is ' + num(steps[0].value) + ', reached ') + (FILE ? 'after ' + cost(steps.at(-1).spent, unit()) : ago(now() - steps.at(-1).at)) + '.';
    if (w) {
      const whole = Math.max(w.total, budget.spent);
      const part = (rows, alpha) => rows.length > 1 && marks.push({type: 'area', xs: rows.map((r) => r.budget), low: rows.map((r) => r.low), high: rows.map((r) => r.high), colour: 'blue', alpha}, {type: 'line', xs: rows.map((r) => r.budget), ys: rows.map((r) => r.best), colour: 'blue', dash: [5, 4]});
      const edge = {...expectedAt(ahead, whole), budget: whole};
      part([...ahead.filter((r) => r.budget < whole), edge], 0.22);
      part([edge, ...ahead.filter((r) => r.budget > whole)], 0.1);
      const b = chosen(), at = expectedAt(ahead, b);
      marks.push({type: 'rule', x: w.total, label: 'total', dash: [2, 2], foot: goal() === 'maximize'}, {type: 'dots', xs: [b], ys: [at.best], colour: 'ink', size: 5, shape: 'square'});
      const e = w.expected;
      words += (e ? b === w.total ? '' : ' At the end of the budget ' + num(e.best) + ' is expected (80 %: ' + num(e.low) + ' to ' + num(e.high) + ').' : ' The budget is spent.') + ' With ' + cost(w.to, unit()) + ': ' + w.ending.split(';')[0] + '.';
    }
    return {
      x: {label: 'total budget (' + unit() + ')', unit: unit(), low: 0}, y: {label: metric()}, marks, sample, under: w && [slider, w.spent, w.to], counted: inc.dots.length < inc.reports ? [] : [inc.dots.map((d) => d[1])], pick,
      points: [...steps.map((p) => ({x: p.spent, y: p.value, key: p.trial, label: num(p.value) + ' after ' + cost(p.spent, unit()) + ': trial ' + p.trial + ', epoch ' + p.epoch})),
               ...ahead.map((r) => ({x: r.budget, y: r.best, label: num(r.best) + ' expected at ' + cost(r.budget, unit()) + ' (' + num(r.low) + ' to ' + num(r.high) + '), after ' + plural(r.runs, 'further trial')}))],
      caption: words,
      table: {head: ['budget', 'best', 'low', 'high'], rows: [...steps.map((p) => [p.spent, p.value, null, null]), ...ahead.map((r) => [r.budget, r.best, r.low, r.high])]},
    };
  }, {below: el('div', {class: 'slider'}, el('label', {}, el('span', {}, 'What if the budget were'), slider), said, command)});
  return chart;
}

// As `--budget` takes it.
export function budgetText(b) {
  return unit() === 's' ? Math.ceil(b) + 's' : "'" + (unit() === 'epochs' ? Math.ceil(b) : num(b)) + ' ' + unit() + "'";
}

// The states that occur; those that look alike together.
function stateLegend(states, shapes) {
  const looks = new Map();
  for (const [state, colour] of Object.entries(STATE_COLOUR)) if (states.includes(state)) looks.set(colour, [...(looks.get(colour) || []), state]);
  return [...looks].map(([colour, list]) => ({text: list.join(', '), colour, shape: shapes ? STATE_SHAPE[list[0]] : undefined}));
}

// Whether a trial in that state may be trained further.
export const mayGrow = (state) => ['running', 'paused', 'interrupted'].includes(state);
export const stateOf = (i) => (know.trials[i] ? know.trials[i].state : 'running');

// The better, the stronger against the paper.
const RAMP = {light: ['#d9b44a', '#a3b85c', '#5fae7f', '#2a8f8f', '#33638d', '#440154'], dark: ['#5b3a78', '#46599a', '#3a86a0', '#35b48a', '#8fdc58', '#fde725']};
function rampColours() {
  const theme = document.documentElement.dataset.theme;
  return RAMP[theme === 'dark' || (theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches) ? 'dark' : 'light'];
}
function ramp(t) {
  const list = rampColours();
  return list[Math.max(0, Math.min(list.length - 1, Math.floor(t * list.length)))];
}

// Where a value of a parameter stands between its ends.
export function unitOf(p, v) {
  if (v === null || v === undefined) return NaN;
  if (p.kind === 'choice') return p.options.length < 2 ? 0.5 : p.options.findIndex((o) => o === v) / (p.options.length - 1);
  if (p.kind === 'constant') return 0.5;
  const f = p.scale === 'log' ? Math.log : p.scale === 'log_complement' ? (x) => -Math.log(1 - x) : (x) => x;
  return p.high === p.low ? 0.5 : (f(v) - f(p.low)) / (f(p.high) - f(p.low));
}

// Trials with a curve, the best first, and some of their values: made anew only when there are new ones.
let ranks = {};
function ranked() {
  const all = know.curves, points = all.reduce((n, c) => n + c.values.length, 0);
  if (ranks.trials === know.trials && ranks.all === all && ranks.points === points) return ranks;
  const sign = goal() === 'minimize' ? 1 : -1, score = Float64Array.from(know.trials, (t) => (t.best === null ? Infinity : sign * t.best)), rank = [], sample = [], stride = Math.max(1, Math.floor(points / 4000));
  for (let i = 0; i < know.trials.length; ++i) if (all[i] && all[i].values.length) rank.push(i);
  rank.sort((a, b) => score[a] - score[b] || a - b);
  for (let i = know.trials.length; i < all.length; ++i) rank.push(i);
  let k = 0;
  for (const {values} of all) for (let i = 0; i < values.length; ++i) if (k++ % stride === 0) sample.push(values[i]);
  return (ranks = {trials: know.trials, all, points, rank, sample});
}

export function curves(options) {
  return new Chart('curves', 'Learning curves', () => {
    const all = know.curves, s = know.study, count = all.length;
    const reported = all.reduce((n, c) => n + (c.values.length ? 1 : 0), 0);
    if (!reported) return {empty: count ? 'No report yet: ' + plural(count, 'trial') + ' started.' : 'No trial has started yet.'};
    const best = s.best ? s.best.trial : -1, by = param('by') || 'state', overCost = param('over') === 'cost';
    const {rank, sample} = ranked();
    const place = new Map(rank.map((t, i) => [t, i])), space = s.spec.space.find((p) => p.name === by);
    const colourOf = (i) => {
      if (by === 'state') return STATE_COLOUR[stateOf(i)];
      if (by === 'value') return ramp(1 - (place.get(i) ?? 0) / Math.max(1, rank.length));
      return space && know.trials[i] ? ramp(unitOf(space, know.trials[i].config[by])) : 'grey';
    };
    const scope = (p) => (p.kind === 'choice' ? p.options.map(value).join(', ') : num(p.low) + ' to ' + num(p.high));
    const legend = by === 'state' ? stateLegend(rank.map(stateOf)) : [{text: by === 'value' ? 'worst to best' : space ? by + ' from ' + scope(space) : by, ramp: rampColours()}];
    const xsOf = (i) => { let t = 0; return Array.from(all[i].costs, (c) => (t += isFinite(c) ? c : 0)); };
    const /** @type {any} */ xs = overCost ? xsOf : null, shownPins = pins();
    let furthest = 1;
    rank.forEach((i) => { furthest = Math.max(furthest, overCost ? xsOf(i).at(-1) : all[i].values.length); });
    const growing = rank.filter((i) => stateOf(i) === 'running'), lines = {type: 'curves', curves: all, colourOf, xs, alpha: count > 12 ? Math.max(0.12, Math.min(0.6, 12 / Math.sqrt(count) / 4)) : 0.8, xReach: [overCost ? 0 : 1, overCost ? furthest : Math.max(furthest, 2)]};
    const /** @type {any[]} */ marks = [{...lines, order: growing.length ? rank.filter((i) => stateOf(i) !== 'running') : rank}], /** @type {any[]} */ live = [{...lines, order: growing}];
    const line = (i, width, name) => all[i] && live.push({type: 'line', xs: overCost ? xsOf(i) : Array.from(all[i].values, (v, j) => j + 1), ys: Array.from(all[i].values), colour: name, width, off: true});
    const forecasts = overCost ? [] : (insight('forecast') || []).filter((f) => f.course && f.course.length > 1 && mayGrow(stateOf(f.trial))).sort((a, b) => b.chance_of_best - a.chance_of_best);
    const told = forecasts.filter((f) => shownPins.includes(f.trial)).concat(forecasts.filter((f) => !shownPins.includes(f.trial)).slice(0, options && options.few ? 2 : 4));
    // Bands on top of each other tell nothing: those that were asked for have one, else the most promising.
    const banded = told.filter((f, i) => !i || shownPins.includes(f.trial));
    for (const f of told) {
      const c = f.course, e = c.map((p) => p.epoch);
      if (banded.includes(f)) marks.push({type: 'area', xs: e, low: c.map((p) => p.low), high: c.map((p) => p.high), colour: 'purple', alpha: 0.16, off: true});
      marks.push({type: 'line', xs: e, ys: c.map((p) => p.expected), colour: 'purple', dash: [4, 3]});
      const stop = c.find((p) => p.epoch === f.stop);
      if (stop) marks.push({type: 'dots', xs: [stop.epoch], ys: [stop.expected], colour: 'purple', shape: 'cross', size: 4});
    }
    if (all[best]) line(best, 3, STATE_COLOUR[stateOf(best)]);
    shownPins.forEach((i) => line(i, 2.5, 'ink'));
    if (selected() !== null) line(selected(), 3, 'select');
    const label = (i, j) => 'trial ' + i + ', epoch ' + (j + 1) + ': ' + num(all[i].values[j]) + ', ' + stateOf(i) + (know.trials[i] ? '; ' + configText(know.trials[i].config) : '');
    const ends = rank.map((i) => ({x: overCost ? xsOf(i).at(-1) : all[i].values.length, y: all[i].values.at(-1), key: i, label: () => label(i, all[i].values.length - 1)}));
    return {
      x: {label: overCost ? 'cost of the trial (' + unit() + ')' : 'epoch', unit: overCost ? unit() : '', tight: true}, y: {label: metric()}, marks, sample, counted: all.map((c) => c.values), points: ends, pick, names: told.length ? told.map((f) => ({y: f.course.at(-1).expected, text: 'trial ' + f.trial, colour: 'purple'})) : null,
      // The nearest curve at the pointer's epoch: one look at each.
      at: overCost ? null : (x, y, px, py) => {
        const j = Math.round(x.back(px)) - 1;
        let found = null, least = 40;
        for (let n = 0; n < rank.length; ++n) {
          const v = all[rank[n]].values[j], d = Math.abs(y(v) - py);
          if (d < least) { least = d; found = rank[n]; }
        }
        return found === null ? null : {x: j + 1, y: all[found].values[j], key: found, label: label(found, j)};
      },
      caption: plural(reported, 'curve') + '; the thick one is trial ' + best + ', the best with ' + num(s.best.value) + ' at epoch ' + s.best.epoch + '.' +
          (told.length ? ' Dashed: expected course of ' + plural(told.length, 'open trial') + ', × where it should be flat; shaded: the 80 % interval of ' + banded.map((f) => 'trial ' + f.trial).join(', ') + (shownPins.length ? '.' : ', the most promising. Pin a trial to see its own.') : ''),
      legend, live, key: JSON.stringify([growing.reduce((n, i) => n - all[i].values.length, ranks.points), growing, by, overCost, best, told.length, know.insight.forecast?.computed_at]),
      table: {head: ['trial', 'epoch', metric(), 'cost'], get rows() { return rank.flatMap((i) => Array.from(all[i].values, (v, j) => [i, j + 1, v, all[i].costs[j]])); }},
    };
  }, {logAxis: 'y', ...options});
}

const planRows = () => insight('plan') && insight('plan').runs;
const runName = (r) => (r.next ? '* ' : '') + (r.trial === null ? 'new' : 'trial ' + r.trial);

export function planCosts() {
  return new Chart('plan-cost', 'Plan: what it costs', () => {
    const runs = planRows(), p = know.insight.plan;
    if (!runs) return {empty: sentence(p && p.trouble) || 'The planner is at work.'};
    if (!runs.length) return {empty: p.answer.budget > 0 ? 'No affordable trial is expected to improve on the best so far.' : 'The budget is spent.'};
    let at = 0;
    const bars = runs.map((r, i) => { const b = {x0: at, x1: at + r.cost, y0: i - 0.32, y1: i + 0.32, colour: r.next ? 'green' : 'blue', alpha: 0.85}; at += r.cost; return b; });
    return {
      x: {label: 'cost from now (' + unit() + ')', unit: unit(), low: 0, high: Math.max(p.answer.budget, at)}, left: 74,
      y: {scale: 'category', names: runs.map(runName), low: runs.length - 0.5, high: -0.5, tight: true, gridless: true}, rows: runs.length,
      marks: [{type: 'bars', bars}, ...bars.map((b, i) => ({type: 'text', x: b.x1, y: i, text: costShort(runs[i].cost, unit()) + ', to epoch ' + runs[i].until}))],
      points: bars.map((b, i) => ({x: (b.x0 + b.x1) / 2, y: i, key: runs[i].trial ?? undefined, label: runName(runs[i]) + ' from epoch ' + runs[i].from + ' to ' + runs[i].until + ' for ' + cost(runs[i].cost, unit()) + '; ' + configText(runs[i].config)})), pick,
      caption: 'Of ' + cost(p.answer.budget, unit()) + ' left, the plan uses ' + cost(at, unit()) + ' for ' + plural(runs.length, 'trial') + ', laid end to end. * has the highest improvement per cost.',
      table: {head: ['next', 'trial', 'from', 'until', 'cost', 'predicted', 'low', 'high', 'improvement', 'config'], rows: runs.map((r) => [r.next ? '*' : '', r.trial ?? 'new', r.from, r.until, r.cost, r.predicted.mean, r.predicted.low, r.predicted.high, r.improvement, configText(r.config)])},
    };
  });
}

export function planValues() {
  return new Chart('plan-value', 'Plan: what it promises', () => {
    const runs = planRows();
    if (!runs || !runs.length) return {empty: runs ? 'Nothing is planned.' : 'Waiting for the plan.'};
    const best = know.study.best.value, next = runs.find((r) => r.next) || runs[0];
    return {
      x: {label: metric() + ' at the end of the run'}, left: 74, right: 74, y: {scale: 'category', names: runs.map(runName), beside: runs.map((r) => '+' + num(digits(r.improvement, 2))), low: runs.length - 0.5, high: -0.5, tight: true}, rows: runs.length,
      marks: [{type: 'whiskers', across: true, xs: runs.map((r) => r.predicted.mean), ys: runs.map((r, i) => i), low: runs.map((r) => r.predicted.low), high: runs.map((r) => r.predicted.high), colour: 'blue', width: 3, alpha: 0.5},
              {type: 'dots', xs: runs.map((r) => r.predicted.mean), ys: runs.map((r, i) => i), colour: 'blue', size: 4.5}, {type: 'rule', x: best, label: 'best', fit: true, colour: 'ink', side: 'left'}],
      points: runs.map((r, i) => ({x: r.predicted.mean, y: i, key: r.trial ?? undefined, label: runName(r) + ': ' + num(r.predicted.mean) + ' expected at epoch ' + r.until + ' (80 %: ' + num(r.predicted.low) + ' to ' + num(r.predicted.high) + '), improvement ' + num(r.improvement)})), pick,
      caption: 'Predicted value with its 80 % interval; the line is the best so far, ' + num(best) + '. On the right the expected improvement; that of ' + runName(next).replace('* ', '') + ' is ' + num(next.improvement) + '.',
      table: {head: ['trial', 'predicted', 'low', 'high', 'improvement'], rows: runs.map((r) => [r.trial ?? 'new', r.predicted.mean, r.predicted.low, r.predicted.high, r.improvement])},
    };
  });
}

// The interval in which the true share lies, by Wilson's rule, with 95 %.
function wilson(share, n) {
  const z = 1.96, mid = (share + z * z / (2 * n)) / (1 + z * z / n), half = z / (1 + z * z / n) * Math.sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  return [Math.max(0, mid - half), Math.min(1, mid + half)];
}

export function calibrationChart() {
  return new Chart('calibration', 'Calibration: how often forecasts came true', () => {
    const record = know.answers.calibration, rows = record ? record.table.filter((r) => r.count) : [];
    if (!record) return READING;
    if (!rows.length) return {empty: 'No predicted epoch has been reached yet; policies without a model of values predict none.'};
    const /** @type {any[]} */ marks = [{type: 'line', xs: [0.4, 1], ys: [0.4, 1], colour: 'quiet', dash: [4, 3], off: true}], points = [];
    rows.forEach((r, i) => {
      const wanted = [0.5, 0.8, 0.95], got = [r.within_50, r.within_80, r.within_95], bands = got.map((g) => wilson(g, r.count)), xs = wanted.map((w) => w + (i ? 0.012 : -0.012)), name = r.predicted === 'value' ? 'blue' : 'orange';
      marks.push({type: 'whiskers', xs, low: bands.map((b) => b[0]), high: bands.map((b) => b[1]), colour: name, width: 2}, {type: 'dots', xs, ys: got, colour: name, shape: r.predicted === 'value' ? 'dot' : 'square', size: 4.5});
      got.forEach((g, j) => points.push({x: xs[j], y: g, label: r.predicted + ': the ' + percent(wanted[j]) + ' interval held ' + percent(g) + ' of ' + r.count + ' (' + percent(bands[j][0]) + ' to ' + percent(bands[j][1]) + ')'}));
    });
    const v = rows.find((r) => r.predicted === 'value');
    return {
      x: {label: 'share that should lie within', low: 0.4, high: 1, format: percent}, y: {label: 'share that does', low: 0, high: 1, format: percent}, marks, points,
      caption: (v ? held80(v.within_80, v.count) + ' of values. ' : '') + 'Lines are 95 % binomial intervals; on the dashed line, the forecasts are right.',
      legend: rows.map((r) => (r.predicted === 'value' ? {text: 'values', colour: 'blue', shape: 'dot'} : {text: 'costs', colour: 'orange', shape: 'square'})),
      table: {head: ['predicted', 'count', 'within 50 %', 'within 80 %', 'within 95 %'], rows: record.table.map((r) => [r.predicted, r.count, r.within_50, r.within_80, r.within_95])},
    };
  });
}

export function errorsChart() {
  return new Chart('errors', 'Errors of forecasts, in order of time', () => {
    if (!know.answers.calibration) return READING;
    const list = know.answers.calibration.forecasts.filter((f) => f.error !== null);
    if (!list.length) return {empty: 'No forecast has come to its epoch yet.'};
    const n = list.length;
    return {
      x: {label: 'forecast'}, y: {label: 'error (predicted deviations)', low: -3.2, high: 3.2}, sample: list.map((f) => f.error),
      marks: [{type: 'area', xs: [1, Math.max(n, 2)], low: [-1.2816, -1.2816], high: [1.2816, 1.2816], colour: 'blue', alpha: 0.12}, {type: 'rule', y: 0}, {type: 'dots', xs: list.map((f, i) => i + 1), ys: list.map((f) => f.error), colour: 'blue', size: 3, off: 'y'}],
      points: list.map((f, i) => ({x: i + 1, y: f.error, key: f.trial, label: '#' + f.seq + ', trial ' + f.trial + ': ' + num(f.error) + ' deviations ' + (f.error > 0 ? 'above' : 'below') + ' its forecast'})), pick,
      caption: plural(n, 'error') + '; the shaded band (±1.28) should hold 80 % of them. A run on one side is a model that is wrong in the same way.',
      table: {head: ['seq', 'trial', 'error', 'cost error'], rows: list.map((f) => [f.seq, f.trial, f.error, f.cost_error])},
    };
  });
}

export function costValue() {
  return new Chart('cost-value', 'Cost and value', () => {
    const list = know.trials.filter((t) => t.best !== null && t.spent > 0);
    if (!list.length) return {empty: 'No trial has reported yet.'};
    const order = [...list].sort((a, b) => a.spent - b.spent || (better(a.best, b.best, goal()) ? -1 : 1)), front = [];
    for (const t of order) if (!front.length || better(t.best, front.at(-1).best, goal())) front.push(t);
    return {
      x: {label: 'spent on the trial (' + unit() + ')', scale: 'log', unit: unit()}, y: {label: metric()}, sample: list.map((t) => t.best), pick,
      marks: [{type: 'line', step: true, xs: [...front.map((t) => t.spent), order.at(-1).spent], ys: [...front.map((t) => t.best), front.at(-1).best], colour: 'quiet', off: true},
              {type: 'dots', xs: list.map((t) => t.spent), ys: list.map((t) => t.best), colours: list.map((t) => STATE_COLOUR[t.state]), shapes: list.map((t) => STATE_SHAPE[t.state]), size: 3.5, off: true},
              {type: 'dots', xs: [order[0].spent, order.at(-1).spent], ys: [NaN, NaN], colour: 'ink'}],
      points: list.map((t) => ({x: t.spent, y: t.best, key: t.trial, label: () => 'trial ' + t.trial + ', ' + t.state + ': ' + num(t.best) + ' for ' + cost(t.spent, unit())})),
      caption: 'The line is the best value to be had for at most that cost: ' + num(front[0].best) + ' for ' + cost(front[0].spent, unit()) + (front.length > 1 ? ', ' + num(front.at(-1).best) + ' for ' + cost(front.at(-1).spent, unit()) : '') + '.',
      legend: stateLegend(list.map((t) => t.state), true),
      table: {head: ['trial', 'state', 'spent', 'best'], rows: list.map((t) => [t.trial, t.state, t.spent, t.best])},
    };
  }, {logAxis: 'x'});
}

export const held80 = (share, count) => 'The 80 % interval held ' + percent(share) + ' of ' + plural(count, 'forecast');
export const chanceOver = (gains, gain) => (gains.length ? gains.filter((g) => g > gain).length / gains.length : 0);

export function certificate() {
  const said = el('output', {class: 'said'}), slider = el('input', {type: 'range', min: '0', max: '100', step: '1', 'aria-label': 'Gain to ask for'});
  const known = () => insight('certificate');
  const most = () => { const g = known().gains; return g.length ? g[Math.floor(0.98 * g.length)] || g.at(-1) || 1e-6 : 1e-6; };
  const read = () => {
    const c = known();
    if (!c) return;
    const gain = Math.min(most(), Number(param('gain') ?? most() / 4));
    slider.value = String(Math.round(100 * gain / most()));
    slider.setAttribute('aria-valuetext', 'a gain of ' + num(gain));
    fill(said, 'a gain over ' + num(digits(gain, 3)) + ': ' + percent(chanceOver(c.gains, gain)) + ' likely, by the model');
    chart.node.classList.toggle('doubted', !c.trusted);
  };
  on(slider, 'input', () => { setParam('gain', String(digits(most() * slider.value / 100, 3))); read(); chart.update(); });
  const chart = new Chart('certificate', 'Certificate: is more to be gained?', () => {
    const c = known();
    slider.closest('.slider').hidden = !c || !c.gains.length;
    if (!c) return {empty: sentence(know.insight.certificate && know.insight.certificate.trouble) || 'The planner is at work.'};
    if (!c.gains.length) return {empty: 'Nothing is left of the budget that would buy an improvement.'};
    read();
    const n = c.gains.length, some = c.gains.filter((g) => g > 0), xs = [0, ...some], ys = [chanceOver(c.gains, 0), ...some.map((g, i) => (some.length - i - 1) / n)], gain = Math.min(most(), Number(param('gain') ?? most() / 4));
    return {
      under: [slider, 0, most()], x: {label: 'gain in ' + metric(), low: 0, high: most() * 1.02}, y: {label: 'probability', low: 0, high: 1, format: percent},
      marks: [{type: 'area', xs, low: ys.map(() => 0), high: ys, colour: c.trusted ? 'green' : 'grey', alpha: 0.18, step: true}, {type: 'line', xs, ys, colour: c.trusted ? 'green' : 'grey', width: 2, step: true}, {type: 'rule', x: gain, colour: 'ink'}],
      points: some.map((g, i) => ({x: g, y: ys[i + 1], label: 'more than ' + num(g) + ': ' + percent(ys[i + 1])})),
      caption: 'A statement of the model: the probability that the remaining ' + cost(c.remaining, unit()) + ' improve ' + num(c.best) + ' by more than a gain. ' + (c.trusted ? held80(c.within_80, c.forecasts) + ' so far.' : 'Not to be relied on: ' + c.reason + '.'),
      table: {head: ['gain', 'probability of more'], rows: some.map((g, i) => [g, ys[i + 1]])},
    };
  }, {below: el('div', {class: 'slider'}, el('label', {}, el('span', {}, 'Gain asked for'), slider), said)});
  return chart;
}

export function timeline() {
  return new Chart('timeline', 'Timeline of workers', () => {
    const record = know.answers.timeline;
    if (!record) return READING;
    if (!record.bars.length) return {empty: 'No trial has been trained yet.'};
    const lanes = Math.max(record.workers, ...record.bars.map((b) => b.lane + 1)), until = know.study.state === 'running' ? now() : Math.max(...record.bars.map((b) => b.end || b.begin));
    const bars = [], over = [], points = [], seen = new Set();
    let busy = 0;
    for (const b of record.bars) {
      const end = b.end ?? until, row = {y0: b.lane - 0.36, y1: b.lane + 0.36}, name = b.how === 'failed' ? 'vermilion' : b.how === 'stopped' ? 'grey' : b.end === null ? 'blue' : 'green';
      seen.add(name);
      busy += end - b.begin;
      bars.push({...row, x0: b.begin, x1: end, colour: name, alpha: 0.75});
      if (b.start_up) bars.push({...row, x0: b.begin, x1: Math.min(end, b.begin + b.start_up), colour: 'orange', hatch: 1});
      if (b.grace) over.push({...row, x0: end, x1: end + b.grace, colour: 'sky', hatch: 3});
      points.push({x: (b.begin + end) / 2, y: b.lane, key: b.trial, label: 'trial ' + b.trial + ' to epoch ' + b.until + ', ' + b.how + ': ' + duration(end - b.begin) + ' from ' + clock(b.begin) + (b.start_up ? ', ' + duration(b.start_up) + ' of it start-up' : '')});
    }
    const begin = record.bars[0].begin, all = (until - begin) * lanes;
    return {
      x: {label: 'time', scale: 'time', tight: true}, y: {scale: 'category', names: Array.from({length: lanes}, (_, i) => 'worker ' + (i + 1)), low: lanes - 0.5, high: -0.5, tight: true, gridless: true}, left: 74, rows: lanes,
      marks: [{type: 'bars', bars: [...bars, ...over]}], points, pick,
      caption: plural(lanes, 'worker') + ', ' + plural(record.bars.length, 'segment') + ': busy ' + percent(all > 0 ? Math.min(1, busy / all) : 0) + ' of the time. Gaps are idle.',
      legend: [...[['running', 'blue'], ['done', 'green'], ['stopped', 'grey'], ['failed', 'vermilion']].filter(([, name]) => seen.has(name)).map(([text, colour]) => ({text, colour, alpha: 0.75})), ...(record.bars.some((b) => b.start_up) ? [{text: 'start-up', colour: 'orange', hatch: 1}] : []), ...(over.length ? [{text: 'grace', colour: 'sky', hatch: 3}] : [])],
      table: {head: ['worker', 'trial', 'until', 'begin', 'end', 'start_up', 'grace', 'how'], rows: record.bars.map((b) => [b.lane + 1, b.trial, b.until, b.begin, b.end, b.start_up, b.grace, b.how])},
    };
  });
}

// Forecast at the last epoch where there is one, so that trials that were stopped early are compared fairly.
export function finals() {
  const by = new Map((insight('forecast') || []).map((f) => [f.trial, f]));
  const measured = param('of') === 'measured';
  return know.trials.filter((t) => t.best !== null).map((t) => {
    const f = !measured && mayGrow(t.state) && by.get(t.trial);
    return {trial: t.trial, state: t.state, config: t.config, value: f ? f.final : t.best, low: f ? f.low : null, high: f ? f.high : null, forecast: !!f};
  });
}

export const finalsLegend = () => {
  const list = finals();
  return [...stateLegend(list.map((t) => t.state), true), ...(list.some((t) => t.forecast) ? [{text: '80 % interval at the last epoch', colour: 'purple', alpha: 0.5}] : [])];
};

export function parameter(p) {
  return new Chart('p-' + p.name.replace(/[^A-Za-z0-9]/g, '_'), p.name, () => {
    const list = finals().filter((t) => t.config[p.name] !== undefined);
    if (!list.length) return {empty: 'No report yet.'};
    const choice = p.kind === 'choice', xs = list.map((t) => (choice ? p.options.findIndex((o) => o === t.config[p.name]) : t.config[p.name])), ahead = list.filter((t) => t.forecast);
    const best = list.reduce((a, b) => (better(b.value, a.value, goal()) ? b : a));
    return {
      x: choice ? {scale: 'category', names: p.options.map(value), low: -0.5, high: p.options.length - 0.5} : {scale: p.scale, label: p.name, low: p.low, high: p.high}, y: {label: metric()}, sample: list.map((t) => t.value), pick,
      marks: [{type: 'whiskers', xs: ahead.map((t) => xs[list.indexOf(t)]), low: ahead.map((t) => t.low), high: ahead.map((t) => t.high), colour: 'purple', alpha: 0.25, off: true},
              {type: 'dots', xs, ys: list.map((t) => t.value), colours: list.map((t) => STATE_COLOUR[t.state]), shapes: list.map((t) => STATE_SHAPE[t.state]), size: 3, off: true}, {type: 'dots', xs, ys: xs.map(() => NaN), colour: 'ink'}],
      points: list.map((t, i) => ({x: xs[i], y: t.value, key: t.trial, label: () => 'trial ' + t.trial + ': ' + p.name + '=' + value(t.config[p.name]) + ', ' + num(t.value) + (t.forecast ? ' expected at the last epoch' : ' measured')})),
      caption: 'Best at ' + p.name + '=' + value(best.config[p.name]) + ': ' + num(best.value) + (best.forecast ? ' expected.' : '.'),
      table: {head: ['trial', p.name, metric(), 'low', 'high'], rows: list.map((t) => [t.trial, t.config[p.name], t.value, t.low, t.high])},
    };
  }, {small: true});
}

// One line per trial across all parameters; a drag along an axis keeps those within.
export function parallel(params) {
  const axes = [...params, {name: '', kind: 'value'}];
  const brush = (i) => { const b = (param('b.' + i) || '').split(',').map(Number); return b.length === 2 && b.every(isFinite) ? b : null; };
  const chart = new Chart('parallel', 'Parallel coordinates', () => {
    const list = finals();
    if (!list.length) return {empty: 'No report yet.'};
    // The far worse ones stand at the end of the axis of values: they would squeeze the others.
    const values = list.map((t) => t.value), ends = [Math.min(...values), Math.max(...values)], least = goal() === 'minimize', low = least ? ends[0] : bulk(values).low, high = least ? bulk(values).high : ends[1], n = axes.length;
    const rows = list.map((t) => Float32Array.from(axes, (p) => (p.kind === 'value' ? (high > low ? Math.max(0, Math.min(1, (t.value - low) / (high - low))) : 0.5) : unitOf(p, t.config[p.name]))));
    const within = rows.map((r) => axes.every((p, i) => { const b = brush(i); return !b || (r[i] >= b[0] && r[i] <= b[1]); }));
    const kept = list.filter((t, i) => within[i]);
    const rank = new Map(values.map((v, i) => i).sort((a, b) => (least ? values[b] - values[a] : values[a] - values[b])).map((i, k) => [i, k / values.length])), goodness = (i) => rank.get(i);
    const /** @type {any[]} */ marks = [{type: 'curves', curves: rows.map((values) => ({values})), order: rows.map((r, i) => i).sort((a, b) => +within[a] - +within[b] || goodness(a) - goodness(b)), colourOf: (i) => (within[i] ? ramp(goodness(i)) : 'line'), alpha: list.length > 100 ? 0.4 : 0.8, xReach: [1, n]}];
    const end = (p, top) => (p.kind === 'value' ? (top && high < ends[1] ? '\u2265 ' : !top && low > ends[0] ? '\u2264 ' : '') + num(top ? high : low) : p.kind === 'choice' ? value(top ? p.options.at(-1) : p.options[0]) : p.kind === 'constant' ? value(p.value) : num(top ? p.high : p.low));
    axes.forEach((p, i) => {
      marks.push({type: 'line', xs: [i + 1, i + 1], ys: [0, 1], colour: 'quiet', width: 1, off: true}, {type: 'text', x: i + 1, y: 1.05, text: end(p, true), room: 1}, {type: 'text', x: i + 1, y: -0.05, text: end(p, false), room: 1});
      const b = brush(i);
      if (b) marks.push({type: 'bars', bars: [{x0: i + 0.97, x1: i + 1.03, y0: b[0], y1: b[1], colour: 'select', alpha: 0.6}]});
    });
    const brushed = axes.some((p, i) => brush(i));
    return {
      x: {scale: 'category', names: ['', ...axes.map((p) => (p.kind === 'value' ? metric() : p.name))], stagger: true, low: 0.9, high: n + 0.1}, y: {low: -0.1, high: 1.1, bare: true}, left: 34, right: 34, rim: 30, marks, pick,
      points: rows.map((r, i) => ({x: n, y: r[n - 1], key: list[i].trial, label: () => 'trial ' + list[i].trial + ': ' + num(list[i].value) + '; ' + configText(list[i].config)})),
      caption: brushed ? kept.length + ' of ' + list.length + ' trials are within the marked ranges' + (kept.length ? '; the best has ' + num(kept.reduce((a, b) => (better(b.value, a, goal()) ? b.value : a), kept[0].value)) + '.' : '.') : 'One line per trial. Drag along an axis to keep a range; double click keeps all.',
      legend: [{text: 'worst to best', ramp: rampColours()}],
      table: {head: ['trial', ...params.map((p) => p.name), metric()], rows: kept.map((t) => [t.trial, ...params.map((p) => t.config[p.name] ?? null), t.value])},
    };
  });
  chart.zoom = (to) => {
    if (!to) axes.forEach((p, i) => setParam('b.' + i, null));
    else {
      const i = Math.max(0, Math.min(axes.length - 1, Math.round((to[0] + to[1]) / 2) - 1));
      setParam('b.' + i, to[2].toFixed(3) + ',' + to[3].toFixed(3));
    }
    chart.update();
  };
  return chart;
}

// Several studies: the best so far over what was spent, or over time since the beginning.
export function compareChart(id, title, list, mode) {
  const names = ['blue', 'orange', 'green', 'vermilion', 'purple', 'sky', 'grey'];
  return new Chart(id, title, () => {
    if (!list.length) return {empty: ''};
    const marks = [], points = [], ends = [], sample = [];
    list.forEach(({study, incumbent}, i) => {
      const began = study.began, last = mode === 'time' ? (study.changed || began) - began : mode === 'share' ? study.budget.spent / study.budget.total : study.budget.spent;
      const xs = incumbent.steps.map((p) => (mode === 'time' ? p.at - began : mode === 'share' ? p.spent / study.budget.total : p.spent)), ys = incumbent.steps.map((p) => p.value);
      if (!xs.length) return;
      marks.push({type: 'line', step: true, xs: [...xs, last], ys: [...ys, ys.at(-1)], colour: names[i % 7], width: 2, dash: i >= 7 ? [6, 3] : [], off: 'y'});
      // The first reports would make the rest a line.
      sample.push(...ys.filter((v, j) => (xs[j + 1] ?? last) > 0.05 * last));
      ends.push({y: ys.at(-1), text: study.name, colour: names[i % 7]});
      xs.forEach((x, j) => points.push({x, y: ys[j], label: study.name + ': ' + num(ys[j])}));
    });
    const u = list[0].study.spec.unit;
    return {
      x: {label: mode === 'time' ? 'time since the first decision' : mode === 'share' ? 'share of the budget' : 'budget spent (' + u + ')', unit: mode === 'time' ? 's' : u, format: mode === 'share' ? percent : undefined, low: 0}, y: {label: list[0].study.spec.metric}, marks, points, sample, names: ends,
      caption: list.map(({study}) => study.name + ': ' + (study.best ? num(study.best.value) : 'no report') + ' after ' + cost(study.budget.spent, study.spec.unit)).join('; ') + '.',
      table: {head: ['study', 'x', 'value'], rows: points.map((p) => [p.label.split(':')[0], p.x, p.y])},
    };
  });
}
