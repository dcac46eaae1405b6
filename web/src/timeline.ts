// The timeline: every recorded span on a canvas, with zoom, pan and a tooltip.

import {type Category, kCategories, type Timeline} from './data';
import {h} from './dom';
import {seconds} from './format';
import {Lane, paintLane} from './lane';

const kLaneHeight = 18;
const kLaneGap = 3;
const kRankHeight = 26;
const kAxisHeight = 24;
const kMinLabelWidth = 30;
const kRanksAtFirst = 6;
const kLeastOpacity = 0.3;  // of a column with anything in it: a lone short span stays visible
const kInstantDigits = 7;   // of when a span starts: enough to order neighbours
const kPicosecond = 1e-12;

interface RankRow {
  kind: 'rank';
  top: number;
  text: string;
}
interface LaneRow {
  kind: 'lane';
  top: number;
  lane: Lane;
}
type Row = RankRow | LaneRow;

type Ink = 'ink' | 'muted' | 'rule' | 'lane' | 'label';
type Palette = Record<Category | Ink, string>;

function readPalette(element: Element): Palette {
  const style = getComputedStyle(element);
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const names = [...kCategories, 'ink', 'muted', 'rule', 'lane', 'label'] as const;
  return Object.fromEntries(names.map(name => [name, color(name)])) as Palette;
}

function rgb(hex: string): [number, number, number] {
  const value = parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

// Round numbers of time, about `count` of them between `from` and `to`.
export function ticks(from: number, to: number, count: number): number[] {
  const rough = (to - from) / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(m => m * power).find(size => size >= rough)!;
  const out = [];
  for (let k = Math.ceil(from / step); k * step <= to; ++k) out.push(k * step);
  return out;
}

export class TimelineView {
  readonly element: HTMLElement;
  private readonly canvas: HTMLCanvasElement;
  private readonly tip: HTMLElement;
  private readonly lanes: Lane[][];  // by rank
  private rows: Row[] = [];
  private height = 0;
  private width = 0;
  private gutter = 0;
  private from = 0;
  private to: number;
  private pending = false;
  private readonly pointers = new Map<number, number>();

  constructor(private readonly data: Timeline) {
    this.to = data.end;
    this.lanes = data.ranks.map(
        rank =>
            rank.lanes.map(({stream, spans}) => new Lane(rank.name, stream, spans, data.labels)));
    const spans = this.lanes.flat().reduce((sum, lane) => sum + lane.length, 0);
    this.canvas = h('canvas', {
      tabindex: '0',
      role: 'img',
      'aria-label': `Timeline of ${spans} spans on ${data.ranks.length} ranks over ` +
          `${seconds(data.end * kPicosecond)}. Arrow keys move, plus and minus zoom, 0 shows all.`,
    });
    this.tip = h('div', {class: 'tip', hidden: '', 'aria-hidden': 'true'});
    this.element =
        h('div', {class: 'timeline'}, this.toolbar(),
          h('div', {class: 'stage'}, this.canvas, this.tip));
    this.arrange(kRanksAtFirst);
    this.listen();
  }

  // Lays out `shown` ranks, evenly chosen, the first and the last among them.
  private arrange(shown: number): void {
    const n = this.data.ranks.length;
    this.rows = [];
    let top = kAxisHeight;
    for (let k = 0; k < Math.min(shown, n); ++k) {
      const rank = n <= shown ? k : Math.round((k * (n - 1)) / (shown - 1));
      this.rows.push({kind: 'rank', top, text: this.data.ranks[rank]!.name});
      top += kRankHeight;
      for (const lane of this.lanes[rank]!) {
        this.rows.push({kind: 'lane', top, lane});
        top += kLaneHeight + kLaneGap;
      }
    }
    this.height = top + 4;
    this.canvas.style.height = `${this.height}px`;
    this.schedule();
  }

  private toolbar(): HTMLElement {
    const button = (text: string, label: string, act: () => void) => {
      const element = h('button', {type: 'button', 'aria-label': label, title: label}, text);
      element.addEventListener('click', act);
      return element;
    };
    const present = new Set(this.data.labels.map(label => label.category));
    const legend =
        h('ul', {class: 'legend', 'aria-label': 'Colours'},
          ...kCategories.filter(category => present.has(category))
              .map(category => h('li', {}, h('span', {class: `swatch ${category}`}), category)));
    const buttons =
        h('div', {class: 'buttons'}, button('+', 'Zoom in', () => this.zoom(0.5)),
          button('−', 'Zoom out', () => this.zoom(2)),
          button('Whole step', 'Show the whole time', () => this.show(0, this.data.end)));
    const ranks = this.data.ranks.length;
    if (ranks > kRanksAtFirst) {
      const toggle = button(`All ${ranks} ranks`, 'Show all recorded ranks', () => {
        toggle.remove();
        this.arrange(ranks);
      });
      buttons.append(toggle);
    }
    return h('div', {class: 'toolbar'}, legend, buttons);
  }

  // Shows [from, to), kept within the run and at least 1,000 ps long.
  show(from: number, to: number): void {
    const length = Math.min(Math.max(to - from, 1000), this.data.end);
    this.from = Math.min(Math.max(from, 0), this.data.end - length);
    this.to = this.from + length;
    this.schedule();
  }

  private zoom(factor: number, at = (this.from + this.to) / 2): void {
    const length = Math.max((this.to - this.from) * factor, 1000);
    const share = (at - this.from) / (this.to - this.from);
    this.show(at - share * length, at + (1 - share) * length);
  }

  private pan(share: number): void {
    const by = share * (this.to - this.from);
    this.show(this.from + by, this.to + by);
  }

  private timeAt(clientX: number): number {
    const x = clientX - this.canvas.getBoundingClientRect().left - this.gutter;
    return this.from + (x / (this.width - this.gutter)) * (this.to - this.from);
  }

  private listen(): void {
    const {canvas} = this;
    new ResizeObserver(() => this.schedule()).observe(canvas);
    for (const query of ['(prefers-color-scheme: dark)', 'print']) {
      matchMedia(query).addEventListener('change', () => this.draw());
    }
    // The page scrolls under an unfocused timeline; a focused one zooms.
    canvas.addEventListener('wheel', event => {
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        this.pan(event.deltaX / this.width);
      } else if (event.ctrlKey || document.activeElement === canvas) {
        this.zoom(1.0015 ** event.deltaY, this.timeAt(event.clientX));
      } else {
        return;
      }
      event.preventDefault();
    }, {passive: false});
    canvas.addEventListener('pointerdown', event => {
      canvas.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, event.clientX);
      canvas.focus({preventScroll: true});
    });
    for (const type of ['pointerup', 'pointercancel'] as const) {
      canvas.addEventListener(type, event => this.pointers.delete(event.pointerId));
    }
    canvas.addEventListener('pointermove', event => this.move(event));
    canvas.addEventListener('pointerleave', () => this.hideTip());
    canvas.addEventListener('dblclick', event => this.zoom(0.4, this.timeAt(event.clientX)));
    canvas.addEventListener('keydown', event => {
      const act = {
        'ArrowLeft': () => this.pan(-0.15),
        'ArrowRight': () => this.pan(0.15),
        '+': () => this.zoom(0.7),
        '=': () => this.zoom(0.7),
        '-': () => this.zoom(1 / 0.7),
        '0': () => this.show(0, this.data.end),
        'Home': () => this.pan(-1e9),
        'End': () => this.pan(1e9),
        'Escape': () => canvas.blur(),
      }[event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act();
    });
  }

  // One pointer drags, two pinch, none hovers.
  private move(event: PointerEvent): void {
    const before = this.pointers.get(event.pointerId);
    if (before === undefined) {
      this.hover(event);
      return;
    }
    const perPixel = (this.to - this.from) / (this.width - this.gutter);
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId);
    this.pointers.set(event.pointerId, event.clientX);
    const other = others[0]?.[1];
    if (other === undefined) {
      const by = (before - event.clientX) * perPixel;
      if (by !== 0) this.show(this.from + by, this.to + by);
      this.hover(event);
    } else {
      const distance = Math.max(Math.abs(event.clientX - other), 8);
      this.zoom(Math.max(Math.abs(before - other), 8) / distance, this.timeAt(other));
    }
  }

  private hover(event: PointerEvent): void {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    const y = event.clientY - box.top;
    const row =
        this.rows.find(({kind, top}) => kind === 'lane' && y >= top && y < top + kLaneHeight);
    if (row?.kind !== 'lane' || x < this.gutter) {
      this.hideTip();
      return;
    }
    const tolerance = (2 * (this.to - this.from)) / (this.width - this.gutter);
    const i = row.lane.at(this.timeAt(event.clientX), tolerance);
    if (i < 0) {
      this.hideTip();
      return;
    }
    const start = row.lane.starts[i]!;
    const fact = (name: string, value: string) => h('div', {}, h('span', {}, name), value);
    this.tip.replaceChildren(
        h('strong', {}, row.lane.name(i)),
        fact('takes', seconds((row.lane.ends[i]! - start) * kPicosecond)),
        fact('starts', seconds(start * kPicosecond, kInstantDigits)),
        fact('kind', row.lane.category(i)), fact('stream', row.lane.stream),
        fact('on', row.lane.rank));
    this.tip.hidden = false;
    const left = Math.min(Math.max(x + 14, 0), this.width - this.tip.offsetWidth - 2);
    const below = y + 18 + this.tip.offsetHeight < this.height;
    this.tip.style.transform =
        `translate(${Math.max(left, 0)}px, ${below ? y + 18 : y - this.tip.offsetHeight - 10}px)`;
  }

  private hideTip(): void {
    this.tip.hidden = true;
  }

  private schedule(): void {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => this.draw());
  }

  private draw(): void {
    this.pending = false;
    const ratio = window.devicePixelRatio || 1;
    this.width = this.canvas.clientWidth;
    if (this.width === 0) return;
    this.gutter = this.width < 600 ? 58 : 84;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    const context = this.canvas.getContext('2d')!;
    context.scale(ratio, ratio);
    const palette = readPalette(this.canvas);
    const font = getComputedStyle(this.canvas).fontFamily;
    context.textBaseline = 'middle';
    this.drawAxis(context, palette, font);
    for (const row of this.rows) {
      if (row.kind === 'rank') {
        context.font = `600 12px ${font}`;
        context.fillStyle = palette.ink;
        context.fillText(row.text, 0, row.top + kRankHeight / 2 + 2, this.width);
      } else {
        this.drawLane(context, palette, font, row.lane, row.top);
      }
    }
  }

  private drawAxis(context: CanvasRenderingContext2D, palette: Palette, font: string): void {
    const width = this.width - this.gutter;
    context.font = `11px ${font}`;
    for (const tick of ticks(this.from, this.to, width / 110)) {
      const x =
          Math.round(this.gutter + ((tick - this.from) / (this.to - this.from)) * width) + 0.5;
      context.fillStyle = palette.rule;
      context.fillRect(x - 0.5, kAxisHeight - 6, 1, this.height);
      context.fillStyle = palette.muted;
      const text = tickText(tick, this.to - this.from);
      const half = context.measureText(text).width / 2;
      context.fillText(text, Math.min(Math.max(x - half, this.gutter), this.width - 2 * half), 9);
    }
  }

  private drawLane(
      context: CanvasRenderingContext2D, palette: Palette, font: string, lane: Lane,
      top: number): void {
    const {gutter} = this;
    const width = this.width - gutter;
    context.font = `11px ${font}`;
    context.fillStyle = palette.muted;
    context.fillText(lane.stream, 0, top + kLaneHeight / 2, gutter - 6);
    context.fillStyle = palette.lane;
    context.fillRect(gutter, top, width, kLaneHeight);
    const colors = kCategories.map(category => rgb(palette[category]));
    paintLane(lane, this.from, this.to, width, {
      span: (i, x0, x1) => {
        const left = Math.max(x0, 0);
        const right = Math.min(x1, width);
        context.fillStyle = palette[lane.category(i)];
        const gap = x1 - x0 > 4 ? 0.5 : 0;
        context.fillRect(gutter + left, top, right - left - gap, kLaneHeight);
        const name = lane.name(i);
        if (right - left < kMinLabelWidth || context.measureText(name).width > right - left - 8)
          return;
        context.fillStyle = lane.category(i) === 'receive' ? palette.ink : palette.label;
        context.fillText(name, gutter + left + 5, top + kLaneHeight / 2 + 0.5);
      },
      column: (x, shares) => {
        const sum = shares.reduce((a, b) => a + b, 0);
        if (sum === 0) return;
        const mix = [0, 1, 2].map(
            k => shares.reduce(
                     (total, share, category) => total + share * colors[category]![k]!, 0) /
                sum);
        context.globalAlpha = Math.max(Math.min(sum, 1), kLeastOpacity);
        context.fillStyle = `rgb(${mix.map(Math.round).join(' ')})`;
        context.fillRect(gutter + Math.max(x, 0), top, 1, kLaneHeight);
        context.globalAlpha = 1;
      },
    });
  }
}

// A tick in the unit of the visible length, so that neighbours read alike.
function tickText(tick: number, length: number): string {
  const units: [number, string][] = [[1e12, 's'], [1e9, 'ms'], [1e6, 'µs'], [1e3, 'ns'], [1, 'ps']];
  const [size, unit] = units.find(([size]) => length >= size) ?? units[units.length - 1]!;
  return `${+(tick / size).toFixed(3)} ${unit}`;
}
