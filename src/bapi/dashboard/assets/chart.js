// Charts on canvas: one for the data, one for what follows the pointer. A chart is built from a description, so that the
// same data make the picture, its caption, its table and its CSV.
import {el, fill, on, scrolls, tool, num, digits, duration, clock, csv, save, table, shown} from './base.js';
import {param, setParam, selected, pins} from './data.js';

const MARGIN = {left: 56, right: 14, named: 88, top: 10, labelled: 24, bottom: 36};
const FONT = '12px system-ui, sans-serif';
const SLICE = 12;  // milliseconds of drawing at a time

let palette = {};
export function readColours() {
  const style = getComputedStyle(document.documentElement);
  palette = {};
  for (const name of ['paper', 'ink', 'quiet', 'line', 'blue', 'orange', 'green', 'vermilion', 'grey', 'sky', 'purple', 'yellow', 'select']) {
    palette[name] = style.getPropertyValue('--' + name).trim();
  }
}
export const colour = (name) => palette[name] || name;

export const STATE_COLOUR = {running: 'blue', interrupted: 'orange', paused: 'orange', completed: 'green', stopped: 'grey', failed: 'vermilion'};

// ---- Scales

function steps(low, high, count, least = 0) {
  const raw = (high - low) / Math.max(1, count), power = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = Math.max(least, power * ([1, 2, 5, 10].find((m) => m * power >= raw * 0.999) || 10));
  const out = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i) out.push(Math.abs(i * step) < step * 1e-9 ? 0 : i * step);
  return out;
}

function timeSteps(low, high, count) {
  const nice = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800];
  const step = nice.find((s) => (high - low) / s <= count) || nice.at(-1);
  if ((high - low) / count < 1) return steps(low, high, count);
  const out = [];
  for (let t = Math.ceil(low / step) * step; t <= high; t += step) out.push(t);
  return out;
}

// Ticks are round: 30 s, 2m, 1h30m.
const roundDuration = (seconds) => duration(seconds).replace(/\.0 s$/, ' s').replace(/m00s$/, 'm').replace(/h00m$/, 'h').replace(/d00h$/, 'd');

function logSteps(low, high) {
  const out = [];
  const wide = Math.log10(high / low) > 2.5;
  for (let p = Math.floor(Math.log10(low)); p <= Math.ceil(Math.log10(high)); ++p) {
    for (const m of wide ? [1] : [1, 2, 5]) {
      const v = m * Math.pow(10, p);
      if (v >= low * 0.999 && v <= high * 1.001) out.push(v);
    }
  }
  return out.length > 1 ? out : steps(low, high, 4);
}

// From numbers to pixels and back: "linear", "log", "log_complement" (for values close to 1), "time" (linear, with times
// as ticks) or "category".
export function scaleOf(axis, low, high, from, to) {
  const log = axis.scale === 'log' && low > 0, close = axis.scale === 'log_complement' && high < 1;
  const f = log ? Math.log : close ? (v) => -Math.log(1 - v) : (v) => v, a = f(low), b = f(high) === a ? a + 1e-9 : f(high);
  const scale = (v) => from + (to - from) * (f(v) - a) / (b - a);
  scale.back = (p) => { const t = a + (b - a) * (p - from) / (to - from); return log ? Math.exp(t) : close ? 1 - Math.exp(-t) : t; };
  scale.low = low;
  scale.names = axis.names;
  scale.high = high;
  scale.ticks = (count) => axis.unit === 's' && !log ? timeSteps(low, high, count) : axis.scale === 'category' ? axis.names.map((n, i) => i).filter((i) => i >= Math.min(low, high) && i <= Math.max(low, high))
      : log ? logSteps(low, high) : close ? [0, 0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.999, 0.9999].filter((v) => v >= low && v <= high) : axis.scale === 'time' ? timeSteps(low, high, count) : steps(low, high, count, axis.label === 'epoch' || axis.label === 'forecast' ? 1 : 0);
  scale.format = axis.format || (axis.scale === 'category' ? (i) => axis.names[i] : axis.scale === 'time' ? clock : axis.unit === 's' ? roundDuration : num);
  return scale;
}

// Where the bulk of the values lies.
export function bulk(values) {
  const sorted = Float64Array.from(values.filter((v) => isFinite(v))).sort();
  if (!sorted.length) return {low: 0, high: 1};
  // Twice the distance of the quartiles beyond them: further away are few, if any.
  const at = (p) => sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))];
  const q1 = at(0.25), q3 = at(0.75), reach = 2 * (q3 - q1) || Math.abs(q1) * 0.05 || 0.5;
  const low = Math.max(sorted[0], q1 - reach), high = Math.min(sorted.at(-1), q3 + reach);
  return {low, high};
}

// ---- Patterns: kinds of spending differ by more than colour

const patterns = new Map();
export function hatch(ctx, name, kind) {
  const key = colour(name) + kind;
  if (!patterns.has(key)) {
    const tile = document.createElement('canvas');
    tile.width = tile.height = 8;
    const t = tile.getContext('2d');
    t.strokeStyle = t.fillStyle = colour(name);
    t.lineWidth = 1.5;
    t.globalAlpha = 0.35;
    t.fillRect(0, 0, 8, 8);
    t.globalAlpha = 1;
    t.beginPath();
    if (kind % 4 === 1) { t.moveTo(0, 8); t.lineTo(8, 0); }
    if (kind % 4 === 2) { t.moveTo(0, 0); t.lineTo(8, 8); }
    if (kind % 4 === 3) { t.moveTo(0, 4); t.lineTo(8, 4); }
    if (kind % 4 === 0) { t.moveTo(4, 0); t.lineTo(4, 8); }
    t.stroke();
    patterns.set(key, ctx.createPattern(tile, 'repeat'));
  }
  return patterns.get(key);
}

export function sign(ctx, shape, x, y, r) {
  ctx.beginPath();
  if (shape === 'square') ctx.rect(x - r, y - r, 2 * r, 2 * r);
  else if (shape === 'triangle') { ctx.moveTo(x, y - r); ctx.lineTo(x + r, y + r); ctx.lineTo(x - r, y + r); ctx.closePath(); }
  else if (shape === 'cross') { ctx.moveTo(x - r, y - r); ctx.lineTo(x + r, y + r); ctx.moveTo(x + r, y - r); ctx.lineTo(x - r, y + r); ctx.lineWidth = 2; ctx.stroke(); return; }
  else ctx.arc(x, y, r, 0, 7);
  if (shape === 'ring') { ctx.lineWidth = 1.5; ctx.stroke(); } else ctx.fill();
}
export const STATE_SHAPE = {running: 'dot', interrupted: 'ring', paused: 'ring', completed: 'square', stopped: 'cross', failed: 'triangle'};

// ---- Legends: what a colour, a pattern or a sign stands for

// {text, colour} with a `shape` or a `hatch`, or {text, ramp: [colours]}; as wide as it is drawn.
const swatchWidth = (item) => (item.ramp ? 60 : 14);

function paintSwatch(ctx, item) {
  if (item.ramp) item.ramp.forEach((c, i) => { ctx.fillStyle = c; ctx.fillRect(60 * i / item.ramp.length, 1, 60 / item.ramp.length + 0.5, 10); });
  else {
    ctx.fillStyle = ctx.strokeStyle = item.hatch ? hatch(ctx, item.colour, item.hatch) : colour(item.colour);
    ctx.globalAlpha = item.alpha || 1;
    if (item.shape) sign(ctx, item.shape, 7, 6, 4); else ctx.fillRect(0, 1, 14, 10);
    ctx.globalAlpha = 1;
  }
}

export function fillLegend(node, items) {
  const key = JSON.stringify([items, palette.paper]);
  if (node.legendKey_ === key) return;
  node.legendKey_ = key;
  node.hidden = !items.length;
  fill(node, items.map((item) => {
    const width = swatchWidth(item), canvas = el('canvas', {'aria-hidden': 'true', width: 2 * width, height: 24}), ctx = canvas.getContext('2d');
    canvas.style.width = width + 'px';
    ctx.scale(2, 2);
    paintSwatch(ctx, item);
    return el('li', {}, canvas, ' ' + item.text);
  }));
}

// As much of a text as fits into `width`.
function fitting(ctx, text, width) {
  if (ctx.measureText(text).width <= width) return text;
  let most = text.length;
  while (most > 1 && ctx.measureText(text.slice(0, most) + '\u2026').width > width) --most;
  return text.slice(0, most) + '\u2026';
}

// Text that can be read on top of lines and points.
function write(ctx, text, x, y, align, name = 'ink') {
  ctx.font = FONT;
  ctx.textAlign = align;
  ctx.lineJoin = 'round';
  ctx.lineWidth = 3;
  ctx.setLineDash([]);
  ctx.strokeStyle = colour('paper');
  ctx.strokeText(text, x, y);
  ctx.fillStyle = colour(name);
  ctx.fillText(text, x, y);
}

// ---- Marks: each draws itself on (ctx, x, y), and says how far it reaches

function path(ctx, xs, ys, x, y, step) {
  let pen = false;
  ctx.beginPath();
  for (let i = 0; i < xs.length; ++i) {
    if (!isFinite(ys[i])) { pen = false; continue; }
    const px = x(xs[i]), py = y(ys[i]);
    if (pen && step) ctx.lineTo(px, y(ys[i - 1]));
    if (pen) ctx.lineTo(px, py); else ctx.moveTo(px, py);
    pen = true;
  }
}

const draw = {
  line(ctx, m, x, y) {
    path(ctx, m.xs, m.ys, x, y, m.step);
    ctx.strokeStyle = colour(m.colour);
    ctx.lineWidth = m.width || 1.5;
    ctx.globalAlpha = m.alpha || 1;
    ctx.setLineDash(m.dash || []);
    ctx.stroke();
  },
  area(ctx, m, x, y) {
    ctx.beginPath();
    m.xs.forEach((v, i) => {
      if (i && m.step) ctx.lineTo(x(v), y(m.high[i - 1]));
      ctx.lineTo(x(v), y(m.high[i]));
    });
    for (let i = m.xs.length - 1; i >= 0; --i) {
      ctx.lineTo(x(m.xs[i]), y(m.low[i]));
      if (i && m.step) ctx.lineTo(x(m.xs[i]), y(m.low[i - 1]));
    }
    ctx.closePath();
    ctx.globalAlpha = m.alpha || 0.2;
    ctx.fillStyle = m.hatch ? hatch(ctx, m.colour, m.hatch) : colour(m.colour);
    ctx.fill();
  },
  dots(ctx, m, x, y) {
    ctx.globalAlpha = m.alpha || 1;
    for (let i = 0; i < m.xs.length; ++i) {
      if (!isFinite(m.ys[i])) continue;
      ctx.fillStyle = ctx.strokeStyle = colour(m.colours ? m.colours[i] : m.colour);
      sign(ctx, m.shapes ? m.shapes[i] : m.shape || 'dot', x(m.xs[i]), y(m.ys[i]), m.size || 3.5);
    }
  },
  whiskers(ctx, m, x, y) {
    ctx.strokeStyle = colour(m.colour);
    ctx.globalAlpha = m.alpha || 0.6;
    ctx.lineWidth = m.width || 1.5;
    ctx.beginPath();
    m.xs.forEach((v, i) => {
      if (m.across) { ctx.moveTo(x(m.low[i]), y(m.ys[i])); ctx.lineTo(x(m.high[i]), y(m.ys[i])); } else { ctx.moveTo(x(v), y(m.low[i])); ctx.lineTo(x(v), y(m.high[i])); }
    });
    ctx.stroke();
  },
  bars(ctx, m, x, y) {
    m.bars.forEach((b) => {
      const part = [Math.min(x(b.x0), x(b.x1)), Math.min(y(b.y0), y(b.y1)), Math.max(b.hatch ? 0 : 1.5, Math.abs(x(b.x1) - x(b.x0))), Math.abs(y(b.y1) - y(b.y0))];
      if (b.hatch) {  // not mixed with what is below
        ctx.fillStyle = colour('paper');
        ctx.fillRect(...part);
      }
      ctx.globalAlpha = b.alpha || 1;
      ctx.fillStyle = b.hatch ? hatch(ctx, b.colour, b.hatch) : colour(b.colour);
      ctx.fillRect(...part);
      ctx.globalAlpha = 1;
    });
  },
  rule(ctx, m, x, y, box) {
    ctx.strokeStyle = colour(m.colour || 'quiet');
    ctx.lineWidth = m.width || 1;
    ctx.setLineDash(m.dash || [4, 3]);
    ctx.beginPath();
    if (m.x !== undefined) { ctx.moveTo(x(m.x), box.top); ctx.lineTo(x(m.x), box.bottom); } else { ctx.moveTo(box.left, y(m.y)); ctx.lineTo(box.right, y(m.y)); }
    ctx.stroke();
    if (!m.label) return;
    if (m.x !== undefined) {
      ctx.font = FONT;
      const wide = ctx.measureText(m.label).width + 8, left = m.side === 'left' ? x(m.x) - box.left > wide : box.right - x(m.x) < wide;
      write(ctx, m.label, x(m.x) + (left ? -4 : 4), m.foot ? box.bottom - 5 : box.top + 10 + (m.down || 0), left ? 'right' : 'left');
    } else write(ctx, m.label, box.left + 4, y(m.y) - 4 < box.top + 10 ? y(m.y) + 13 : y(m.y) - 4, 'left');
  },
  // Right of `x`, or left of it where there is no room: on what ends there. Or at `x`, at most `room` wide.
  text(ctx, m, x, y, box) {
    ctx.font = FONT;
    if (m.room) return write(ctx, fitting(ctx, m.text, x(m.room) - x(0) - 4), x(m.x), y(m.y) + 4, 'center');
    if (x(m.x) + 8 + ctx.measureText(m.text).width < box.right) return write(ctx, m.text, x(m.x) + 4, y(m.y) + 4, 'left');
    ctx.textAlign = 'right';
    ctx.fillStyle = colour('paper');
    ctx.fillText(m.text, x(m.x) - 6, y(m.y) + 4);
  },
};

function reach(m, axis) {
  if (m.off === true || m.off === axis) return [];
  if (m.type === 'curves') return axis === 'x' ? m.xReach : [];
  if (m.type === 'bars') return m.bars.flatMap((b) => (axis === 'x' ? [b.x0, b.x1] : [b.y0, b.y1]));
  if (m.type === 'rule') return m.fit && m[axis] !== undefined ? [m[axis]] : [];
  if (m.type === 'text') return [];
  if (m.across ? axis === 'x' : axis === 'y') return [...(m.low || []), ...(m.high || []), ...((m.across ? m.xs : m.ys) || [])];
  return [...((axis === 'x' ? m.xs : m.ys) || [])];
}

// ---- The figure

let calm = false;

// Runs an update that nobody has asked for by hand: its charts may wait for a moment.
export function calmly(update) {
  calm = true;
  try { update(); } finally { calm = false; }
}

// What ends in _ is of the chart alone; the names are shortened for the page.
export class Chart {
  // `sample` holds values whose bulk sets the y axis, `counted` lists of those among which outliers are counted.
  // `build` gives {x, y, marks, points, legend, caption, table: {head, rows}, pick}, with `rows` (of a chart that is as high
  // as it has rows), `live` (marks that grow, above the others; `key` changes with these) and `under` (a slider and the
  // values of its ends); or {empty: "what it waits for"}, with `loading` if that is only the answer.
  constructor(id, title, build, options = {}) {
    this.id = id;
    this.title_ = title;
    this.build_ = build;
    this.options_ = options;
    /** @type {any} */
    this.spec = {empty: ''};
    this.hovered_ = -1;
    this.width_ = this.height_ = this.job_ = this.updated_ = this.later_ = this.sliced_ = 0;
    this.pace_ = 20000;
    this.data_ = el('canvas', {'aria-hidden': 'true'});
    this.over_ = el('canvas', {'aria-hidden': 'true'});
    this.plot_ = el('div', {class: 'plot' + (options.small ? ' short' : ''), tabindex: '0', role: 'img', 'aria-label': title}, this.data_, this.over_);
    this.empty_ = el('p', {class: 'wait'});
    this.reading_ = el('output', {class: 'reading', hidden: true});
    this.legend_ = el('ul', {class: 'legend', hidden: true});
    this.caption_ = el('figcaption', {});
    this.tableBox_ = el('div', {class: 'tablebox', hidden: true, ...scrolls('Table: ' + title)});
    this.buttons_ = el('span', {class: 'tools'},
        options.logAxis ? tool('log', 'Logarithmic axis: ' + title, () => this.toggleLog_()) : null,
        tool('table', 'Table: ' + title, () => this.toggleTable_()),
        tool('CSV', 'CSV: ' + title, () => this.saveCsv_()),
        tool('PNG', 'PNG: ' + title, () => this.savePng_()));
    this.node = el('figure', {class: 'chart', id: 'chart-' + id}, el('div', {class: 'bar'}, el('h2', {}, title), this.buttons_), el('div', {class: 'stage'}, this.plot_, this.reading_), this.legend_, this.empty_, options.below || null, this.caption_, this.tableBox_);
    this.node.chart = this;
    this.listen_();
    new ResizeObserver(([plot]) => {
      Object.assign(this, {width_: plot.contentRect.width, height_: plot.contentRect.height});
      this.redraw();
    }).observe(this.plot_);
  }

  update() {
    // What comes live is drawn twice a second at most.
    clearTimeout(this.later_);
    const wait = this.updated_ + 500 - Date.now();
    if (calm && wait > 0) {
      this.later_ = setTimeout(() => this.node.isConnected && this.update(), wait);
      return;
    }
    this.updated_ = Date.now();
    this.spec = this.build_();
    this.zoomed_ = null;
    const z = (param('z.' + this.id) || '').split(',').map(Number);
    if (z.length === 4 && z.every(isFinite)) this.zoomed_ = z;
    const nothing = this.spec.empty !== undefined;
    this.plot_.hidden = nothing;
    this.plot_.style.height = this.spec.rows ? Math.min(420, 70 + 40 * this.spec.rows) + 'px' : '';
    this.buttons_.hidden = nothing;
    fill(this.empty_, this.spec.empty || '');
    this.empty_.hidden = !nothing;
    fillLegend(this.legend_, this.spec.legend || []);
    this.empty_.className = 'wait' + (this.spec.loading ? ' loading' + (this.options_.small ? ' short' : '') : '');
    if (nothing) {
      this.reading_.hidden = true;
      return fill(this.caption_, '');
    }
    this.plot_.setAttribute('aria-label', this.title_ + ': ' + this.spec.caption);
    if (!this.tableBox_.hidden) this.fillTable_();
    // What lies below the live marks is as it was drawn last?
    const same = calm && this.spec.key && this.spec.key === this.below_ && this.done && !this.zoomed_;
    if (same && String(this.domains_().frame) === this.drawn_) { this.tell_(); this.drawOver(); } else this.redraw();
  }

  axis_(name) {
    const axis = {...this.spec[name]};
    const log = param('log.' + this.id);
    if (name === (this.options_.logAxis || 'y') && log !== null) axis.scale = log === '1' ? 'log' : 'linear';
    return axis;
  }

  domains_() {
    const out = {cut: 0};
    for (const name of ['x', 'y']) {
      const axis = this.axis_(name);
      const values = [...this.spec.marks, ...(this.spec.live || [])].flatMap((m) => reach(m, name)).filter((v) => v !== null && isFinite(v) && (axis.scale !== 'log' || v > 0));
      let low = Infinity, high = -Infinity;
      for (const v of values) { if (v < low) low = v; if (v > high) high = v; }
      if (name === 'y' && this.spec.sample) {
        const b = bulk(this.spec.sample);
        low = Math.min(low, b.low);
        high = Math.max(high, b.high);
      }
      if (axis.low !== undefined) low = axis.low;
      if (axis.high !== undefined) high = axis.high;
      if (name === 'y' && this.spec.sample) for (const list of this.spec.counted || [this.spec.sample]) for (let i = 0; i < list.length; ++i) if (list[i] < low || list[i] > high) ++out.cut;
      if (!isFinite(low)) { low = 0; high = 1; }
      if (low === high) { const d = Math.abs(low) * 0.1 || 0.5; low -= d; high += d; }
      const pad = axis.tight ? 0 : 0.04 * (high - low);
      out[name] = axis.scale === 'log' && low > 0 ? [low / 1.08, high * 1.08] : [axis.low !== undefined ? low : low - pad, axis.high !== undefined ? high : high + pad];
      // While new data fit what is shown, the axes do not move.
      const [from, to] = (calm && !this.zoomed_ && this.domain_ && this.domain_[name]) || [], span = out[name][1] - out[name][0];
      if (from <= low && to >= high && to - from >= span && to - from < 1.2 * span) out[name] = [from, to];
    }
    this.domain_ = out;
    if (this.zoomed_) { out.x = this.zoomed_.slice(0, 2); out.y = this.zoomed_.slice(2); }
    out.frame = [...out.x, ...out.y];
    return out;
  }

  size_() {
    if (!this.width_) Object.assign(this, {width_: this.plot_.clientWidth, height_: this.plot_.clientHeight});
    const {width_: width, height_: height} = this, ratio = window.devicePixelRatio || 1;
    for (const canvas of [this.data_, this.over_]) {
      if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(height * ratio);
      }
      canvas.getContext('2d').setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    return {width, height};
  }

  redraw() {
    if (this.spec.empty !== undefined) return;
    const {width, height} = this.size_(), left = this.spec.left || MARGIN.left;
    if (!width) return;
    this.box_ = {left, right: width - (this.spec.right || (this.spec.names ? MARGIN.named : MARGIN.right)), top: this.spec.y.label ? MARGIN.labelled : MARGIN.top, bottom: height - MARGIN.bottom};
    const domain = this.domains_(), ctx = this.data_.getContext('2d');
    this.x = scaleOf(this.axis_('x'), ...domain.x, this.box_.left, this.box_.right);
    this.y = scaleOf(this.axis_('y'), ...domain.y, this.box_.bottom, this.box_.top);
    this.below_ = this.spec.key;
    this.drawn_ = String(domain.frame);
    this.tell_();
    ctx.clearRect(0, 0, width, height);
    this.axes_(ctx, width, height);
    ++this.job_;
    this.sliced_ = 0;
    this.marks(ctx, this.spec.marks.slice(), this.job_);
    this.drawOver();
    if (this.spec.under) this.align_(...this.spec.under);
  }

  tell_() {
    const cut = this.domain_.cut;
    fill(this.caption_, shown(this.spec.caption) + (cut && !this.zoomed_ ? ' ' + cut + (cut === 1 ? ' value lies' : ' values lie') + ' outside the frame.' : ''), this.zoomed_ ? ' Zoomed; double click or 0 shows all.' : '');
  }

  // A slider below the chart has its values where the axis has them.
  align_(slider, low, high) {
    const thumb = 16, fits = !this.zoomed_ && this.width_ > 500;  // a short one is hard to move
    slider.parentNode.classList.toggle('beside', fits && this.x(low) > 190);
    slider.style.marginLeft = fits ? this.x(low) - thumb / 2 + 'px' : '';
    slider.style.width = fits ? this.x(high) - this.x(low) + thumb + 'px' : '';
  }

  axes_(ctx, width, height) {
    const {x, y, box_: box} = this;
    ctx.font = FONT;
    ctx.lineWidth = 1;
    ctx.strokeStyle = colour('line');
    ctx.fillStyle = colour('quiet');
    ctx.textBaseline = 'alphabetic';
    ctx.textAlign = 'right';
    for (const t of this.spec.y.bare ? [] : y.ticks(Math.max(2, (box.bottom - box.top) / (box.bottom - box.top > 250 ? 50 : 34)))) {
      const py = Math.round(y(t)) + 0.5;
      if (py < box.top - 1 || py > box.bottom + 1) continue;
      if (!this.spec.y.gridless) {
        ctx.beginPath();
        ctx.moveTo(box.left, py);
        ctx.lineTo(box.right, py);
        ctx.stroke();
      }
      ctx.fillText(y.format(t), box.left - 6, py + 4);
      if (!this.spec.y.beside) continue;
      ctx.textAlign = 'left';
      ctx.fillText(this.spec.y.beside[t], box.right + 6, py + 4);
      ctx.textAlign = 'right';
    }
    ctx.textAlign = 'center';
    let last = -Infinity;
    const apart = x.format === num ? 50 : 80;
    for (const t of x.ticks(Math.max(2, (box.right - box.left) / apart))) {
      const px = x(t), label = x.names && !this.spec.x.stagger ? fitting(ctx, x.format(t), Math.abs(x(1) - x(0)) - 8) : x.format(t), half = ctx.measureText(label).width / 2;
      if (px < box.left - 1 || px > box.right + 1 || (px - half < last + 6 && !this.spec.x.stagger)) continue;
      ctx.beginPath();
      ctx.moveTo(Math.round(px) + 0.5, box.bottom);
      ctx.lineTo(Math.round(px) + 0.5, box.bottom + 4);
      ctx.stroke();
      ctx.fillText(label, Math.max(half, Math.min(px, width - half - 2)), box.bottom + (px - half < last + 6 ? 31 : 16));
      if (px - half >= last + 6) last = px + half;
    }
    ctx.fillText(this.spec.x.label || '', (box.left + box.right) / 2, height - 4);
    ctx.textAlign = 'left';
    if (this.spec.y.label) ctx.fillText(this.spec.y.label, Math.min(8, box.left), 12);
    this.names_(ctx);
  }

  // Names of lines beside their ends, moved apart until they can be read.
  names_(ctx) {
    const {y, box_: box} = this, gap = 14, list = (this.spec.names || []).map((n) => ({...n, at: y(n.y) + 4})).sort((a, b) => a.at - b.at);
    list.forEach((n, i) => { n.at = Math.max(n.at, i ? list[i - 1].at + gap : box.top + 4); });
    for (let i = list.length - 1, low = box.bottom; i >= 0; --i, low -= gap) list[i].at = Math.min(list[i].at, low);
    for (const n of list) {
      ctx.fillStyle = ctx.strokeStyle = colour(n.colour);
      ctx.beginPath();
      ctx.moveTo(box.right, y(n.y));
      ctx.lineTo(box.right + 8, n.at - 4);
      ctx.stroke();
      ctx.fillText(n.text.length > 12 ? n.text.slice(0, 11) + '\u2026' : n.text, box.right + 11, n.at);
    }
  }

  // Mark by mark; many curves in slices, so that the page stays awake.
  marks(ctx, list, job) {
    const begin = performance.now();
    // What is drawn here is put on the screen later, and may take longer: the time from one slice to the next tells.
    if (this.sliced_) this.pace_ = Math.max(2000, this.pace_ * (begin - this.sliced_ > 33 ? 0.6 : 1.2));
    this.clip_(ctx);
    while (list.length) {
      const m = list[0];
      if (m.type === 'curves') {
        m.next = m.job === job ? m.next : 0;
        m.job = job;
        for (let points = 0; m.next < m.order.length && points < this.pace_ && performance.now() - begin < SLICE;) {
          for (let k = 0; k < 20 && m.next < m.order.length; ++k) {
            points += m.curves[m.order[m.next]].values.length;
            this.curve_(ctx, m, m.order[m.next++]);
          }
        }
        if (m.next < m.order.length) break;
      } else {
        draw[m.type](ctx, m, this.x, this.y, this.box_);
        ctx.globalAlpha = 1;
        ctx.setLineDash([]);
      }
      list.shift();
    }
    ctx.restore();
    this.done = !list.length;
    this.sliced_ = this.done ? 0 : begin;
    if (list.length) requestAnimationFrame(() => { if (job === this.job_) this.marks(ctx, list, job); });
  }

  clip_(ctx) {
    ctx.save();
    ctx.beginPath();
    const rim = this.zoomed_ ? 0 : this.spec.rim || 6;  // signs on the edge of the frame are whole
    ctx.rect(this.box_.left - rim, this.box_.top - rim, this.box_.right - this.box_.left + 2 * rim, this.box_.bottom - this.box_.top + 2 * rim);
    ctx.clip();
  }

  // What grows while one looks, above what stays.
  drawLive_(ctx) {
    this.clip_(ctx);
    for (const m of this.spec.live || []) {
      if (m.type === 'curves') m.order.forEach((i) => this.curve_(ctx, m, i));
      else draw[m.type](ctx, m, this.x, this.y, this.box_);
      ctx.globalAlpha = 1;
      ctx.setLineDash([]);
    }
    ctx.restore();
  }

  curve_(ctx, m, i) {
    const ys = m.curves[i].values, xs = m.xs ? m.xs(i) : null, x = this.x, y = this.y;
    if (!ys.length) return;
    ctx.strokeStyle = colour(m.colourOf(i));
    ctx.globalAlpha = m.alpha;
    ctx.lineWidth = 1;
    let pen = false;
    ctx.beginPath();
    for (let k = 0; k < ys.length; ++k) {
      const v = ys[k];
      if (v !== v) { pen = false; continue; }
      const px = x(xs ? xs[k] : k + 1), py = y(v);
      if (pen) ctx.lineTo(px, py); else ctx.moveTo(px, py);
      pen = true;
    }
    ctx.stroke();
    if (ys.length === 1) { ctx.fillStyle = ctx.strokeStyle; ctx.fillRect(x(xs ? xs[0] : 1) - 1.5, y(ys[0]) - 1.5, 3, 3); }
    ctx.globalAlpha = 1;
  }

  drawOver() {
    const ctx = this.over_.getContext('2d'), {x, y} = this;
    if (!x) return;
    ctx.clearRect(0, 0, this.over_.width, this.over_.height);
    this.drawLive_(ctx);
    const points = this.spec.points || [];
    const chosen = selected(), marked = new Set([...pins(), chosen]);
    for (const p of points) {
      if (p.key === undefined || !marked.has(p.key)) continue;
      ctx.strokeStyle = colour(p.key === chosen ? 'select' : 'ink');
      ctx.lineWidth = 2;
      ctx.beginPath();
      ctx.arc(x(p.x), y(p.y), 6, 0, 7);
      ctx.stroke();
    }
    const p = this.spec.at ? this.spot_ : points[this.hovered_];
    if (p) {
      ctx.fillStyle = ctx.strokeStyle = colour('ink');
      sign(ctx, 'ring', x(p.x), y(p.y), 5);
      ctx.globalAlpha = 0.4;
      ctx.fillRect(x(p.x), this.box_.top, 1, this.box_.bottom - this.box_.top);
      ctx.globalAlpha = 1;
    }
    if (this.drag_) {
      ctx.strokeStyle = colour('select');
      ctx.strokeRect(this.drag_[0], this.drag_[1], this.drag_[2] - this.drag_[0], this.drag_[3] - this.drag_[1]);
    }
    fill(this.reading_, p ? shown(typeof p.label === 'function' ? p.label() : p.label) : '');
    this.reading_.hidden = !p;
    if (!p) return;
    // Beside the point, on the side with more room.
    const left = x(p.x) > (this.box_.left + this.box_.right) / 2, top = y(p.y) > (this.box_.top + this.box_.bottom) / 2;
    Object.assign(this.reading_.style, {left: left ? 'auto' : x(p.x) + 10 + 'px', right: left ? this.width_ - x(p.x) + 10 + 'px' : 'auto', top: top ? 'auto' : y(p.y) + 10 + 'px', bottom: top ? this.height_ - y(p.y) + 10 + 'px' : 'auto'});
  }

  nearest(px, py) {
    if (this.spec.at) { this.spot_ = this.spec.at(this.x, this.y, px, py); return; }
    let best = -1, least = 40 * 40;
    (this.spec.points || []).forEach((p, i) => {
      const d = (this.x(p.x) - px) ** 2 + (this.y(p.y) - py) ** 2;
      if (d < least) { least = d; best = i; }
    });
    this.hovered_ = best;
  }

  listen_() {
    const at = (e) => { const r = this.plot_.getBoundingClientRect(); return [e.clientX - r.left, e.clientY - r.top]; };
    let from = null;
    on(this.plot_, 'pointermove', (e) => {
      if (!this.x) return;
      const [px, py] = at(e);
      if (from && Math.hypot(px - from[0], py - from[1]) > 6) this.drag_ = [from[0], from[1], px, py];
      this.nearest(px, py);
      this.drawOver();
    });
    on(this.plot_, 'pointerdown', (e) => { if (e.button === 0 && e.pointerType !== 'touch') from = at(e); });
    on(this.plot_, 'pointerleave', () => { this.hovered_ = -1; this.spot_ = null; if (!from) this.drawOver(); });
    on(window, 'pointerup', () => {
      if (!from) return;
      from = null;
      const d = this.drag_;
      this.drag_ = null;
      if (!d) return;
      const xs = [this.x.back(d[0]), this.x.back(d[2])].sort((a, b) => a - b), ys = [this.y.back(d[1]), this.y.back(d[3])].sort((a, b) => a - b);
      if (Math.abs(d[2] - d[0]) > 8 && Math.abs(d[3] - d[1]) > 8) this.zoom([...xs, ...ys]);
      this.dragged_ = true;
    });
    on(this.plot_, 'click', () => {
      if (this.dragged_) { this.dragged_ = false; return; }
      const p = this.spec.at ? this.spot_ : (this.spec.points || [])[this.hovered_];
      if (p && p.key !== undefined && this.spec.pick) this.spec.pick(p.key);
    });
    on(this.plot_, 'dblclick', () => this.zoom(null));
    on(this.plot_, 'keydown', (e) => this.key(e));
  }

  key(e) {
    if (this.spec.empty !== undefined) return;
    const points = this.spec.points || [], step = e.shiftKey ? 10 : 1;
    const move = {ArrowRight: step, ArrowLeft: -step, ArrowUp: step, ArrowDown: -step}[e.key];
    if (move && points.length) {
      this.spot_ = null;
      this.hovered_ = Math.max(0, Math.min(points.length - 1, this.hovered_ + move));
      if (this.spec.at) this.spot_ = points[this.hovered_];
      this.drawOver();
    } else if (e.key === 'Enter' && points[this.hovered_] && this.spec.pick && points[this.hovered_].key !== undefined) this.spec.pick(points[this.hovered_].key);
    else if (e.key === '+' || e.key === '-') {
      const f = e.key === '+' ? 0.25 : -0.5, span = (s) => { const d = (s.high - s.low) * f; return [s.low + d, s.high - d]; };
      this.zoom([...span(this.x), ...span(this.y)]);
    } else if (e.key === '0') this.zoom(null);
    else if (e.key === 'l' && this.options_.logAxis) this.toggleLog_();
    else if (e.key === 't') this.toggleTable_();
    else return;
    e.preventDefault();
    e.stopPropagation();
  }

  zoom(to) {
    this.zoomed_ = to && to.map((v) => digits(v, 8));
    setParam('z.' + this.id, to && this.zoomed_.join(','));
    this.redraw();
  }

  toggleLog_() {
    const axis = this.axis_(this.options_.logAxis);
    setParam('log.' + this.id, axis.scale === 'log' ? '0' : '1');
    this.redraw();
  }

  fillTable_() {
    const t = this.spec.table;
    fill(this.tableBox_, table(t.head, t.rows.slice(0, 300)), t.rows.length > 300 ? el('p', {}, 'The first 300 of ' + t.rows.length + ' rows; CSV has all.') : null);
  }

  toggleTable_() {
    this.tableBox_.hidden = !this.tableBox_.hidden;
    if (!this.tableBox_.hidden) this.fillTable_();
  }

  saveCsv_() { save(this.id + '.csv', new Blob([csv(this.spec.table.head, this.spec.table.rows)], {type: 'text/csv'})); }

  // The picture by itself: title, data, legend.
  savePng_() {
    const out = document.createElement('canvas'), ctx = out.getContext('2d'), ratio = window.devicePixelRatio || 1, legend = this.spec.legend || [], head = 28, foot = legend.length ? 26 : 0;
    out.width = this.data_.width;
    out.height = this.data_.height + Math.round((head + foot) * ratio);
    ctx.fillStyle = colour('paper');
    ctx.fillRect(0, 0, out.width, out.height);
    ctx.drawImage(this.data_, 0, Math.round(head * ratio));
    ctx.scale(ratio, ratio);
    ctx.translate(0, head);
    this.drawLive_(ctx);
    ctx.translate(0, -head);
    ctx.fillStyle = colour('ink');
    ctx.font = 'bold 15px system-ui, sans-serif';
    ctx.fillText(shown(this.title_), 8, 19);
    ctx.font = FONT;
    ctx.translate(8, out.height / ratio - 18);
    for (const item of legend) {
      paintSwatch(ctx, item);
      ctx.fillStyle = colour('ink');
      ctx.fillText(shown(item.text), swatchWidth(item) + 4, 10);
      ctx.translate(swatchWidth(item) + 18 + ctx.measureText(item.text).width, 0);
    }
    out.toBlob((blob) => save(this.id + '.png', blob));
  }
}
