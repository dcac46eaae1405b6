// What links and flows did over time: a map of links against time, and curves below it, on one
// canvas each. A column of pixels shows the most of what falls into it.

import {h, longTable, section} from './dom';
import {bandwidth, bytes, count, seconds} from './format';
import {ticks} from './timeline';

export type LinkSeries = {
  from: string;
  to: string;
  rate_Bps: number;
  bytes: number[];
  peak_queue_bytes: number[];
  pauses: number[];
};

export type FlowSeries = {flow: number; delivered_bytes: number[]};

export type Samples = {
  width_s: number;
  intervals: number;
  links: LinkSeries[];
  flows: FlowSeries[];
};

// A quantity that rows have in each interval.
type Measure = {
  name: string;
  values: (link: LinkSeries) => number[];
  scale: (samples: Samples) => number;  // what is drawn at full strength
  text: (value: number) => string;
};

const kRowHeight = 14;
const kAxisHeight = 22;
const kCurveHeight = 150;
const kCurves = 5;
const kCurveColors = ['communication', 'forward', 'optimizer', 'recompute', 'backward'] as const;

const greatest = (values: number[]): number => values.reduce((a, b) => Math.max(a, b), 0);

const measures = (width: number): Measure[] => [
  {
    name: 'Longest queue',
    values: link => link.peak_queue_bytes,
    scale: samples => greatest(samples.links.map(link => greatest(link.peak_queue_bytes))),
    text: bytes,
  },
  {
    name: 'Rate',
    values: link => link.bytes.map(value => value / width),
    scale: samples => greatest(samples.links.map(link => link.rate_Bps)),
    text: bandwidth,
  },
];

// The greatest value of those in each of `columns` equal parts of `values`.
export function levels(values: number[], columns: number): number[] {
  if (values.length === 0) return [];
  return Array.from({length: columns}, (_, x) => {
    const from = Math.floor((x * values.length) / columns);
    const to = Math.max(from + 1, Math.floor(((x + 1) * values.length) / columns));
    return greatest(values.slice(from, to));
  });
}

type Line = {name: string; values: number[]};

class Canvas {
  readonly element = h('canvas', {role: 'img', class: 'still'});
  constructor(
      label: string, private readonly height: number,
      private readonly paint: (context: CanvasRenderingContext2D, width: number) => void) {
    this.element.setAttribute('aria-label', label);
    this.element.style.height = `${height}px`;
    new ResizeObserver(() => this.draw()).observe(this.element);
    for (const query of ['(prefers-color-scheme: dark)', 'print']) {
      matchMedia(query).addEventListener('change', () => this.draw());
    }
  }
  draw(): void {
    const ratio = window.devicePixelRatio || 1;
    const width = this.element.clientWidth;
    if (width === 0) return;
    this.element.width = Math.round(width * ratio);
    this.element.height = Math.round(this.height * ratio);
    const context = this.element.getContext('2d')!;
    context.scale(ratio, ratio);
    context.textBaseline = 'middle';
    context.font = `11px ${getComputedStyle(this.element).fontFamily}`;
    this.paint(context, width);
  }
  color(name: string): string {
    return getComputedStyle(this.element).getPropertyValue(`--${name}`).trim();
  }
}

const gutterOf = (width: number): number => (width < 600 ? 96 : 190);

function drawAxis(
    canvas: Canvas, context: CanvasRenderingContext2D, width: number, end: number,
    height: number): void {
  const gutter = gutterOf(width);
  for (const tick of ticks(0, end, (width - gutter) / 110)) {
    const x = gutter + (tick / end) * (width - gutter);
    context.fillStyle = canvas.color('rule');
    context.fillRect(Math.round(x), kAxisHeight - 6, 1, height);
    context.fillStyle = canvas.color('muted');
    const text = seconds(tick, 3);
    const half = context.measureText(text).width / 2;
    context.fillText(text, Math.min(Math.max(x - half, gutter), width - 2 * half), 8);
  }
}

function heatMap(samples: Samples, measure: Measure): Canvas {
  const top = measure.scale(samples) || 1;
  const rows = samples.links.map(measure.values);
  const end = samples.width_s * samples.intervals;
  const canvas: Canvas = new Canvas(
      `${measure.name} of ${rows.length} links over ${seconds(end)}; the table has the greatest.`,
      kAxisHeight + rows.length * kRowHeight, (context, width) => {
        const gutter = gutterOf(width);
        const across = width - gutter;
        drawAxis(canvas, context, width, end, rows.length * kRowHeight);
        const ink = canvas.color('communication');
        rows.forEach((values, row) => {
          const y = kAxisHeight + row * kRowHeight;
          context.fillStyle = canvas.color('muted');
          const {from, to} = samples.links[row]!;
          context.fillText(`${from} → ${to}`, 0, y + kRowHeight / 2, gutter - 6);
          context.fillStyle = canvas.color('lane');
          context.fillRect(gutter, y, across, kRowHeight - 1);
          context.fillStyle = ink;
          // As many columns as there are pixels, or intervals where these are fewer.
          const columns = Math.min(Math.floor(across), values.length);
          const edge = (x: number) => Math.round(gutter + (x * across) / columns);
          levels(values, columns).forEach((value, x) => {
            if (value === 0) return;
            context.globalAlpha = Math.min(0.12 + 0.88 * (value / top), 1);
            context.fillRect(edge(x), y, edge(x + 1) - edge(x), kRowHeight - 1);
          });
          context.globalAlpha = 1;
        });
      });
  return canvas;
}

function curves(name: string, samples: Samples, lines: Line[], text: (value: number) => string):
    Canvas {
  const top = greatest(lines.map(line => greatest(line.values))) || 1;
  const end = samples.width_s * samples.intervals;
  const canvas: Canvas = new Canvas(
      `${name} over ${seconds(end)}: up to ${text(top)}.`, kAxisHeight + kCurveHeight + 4,
      (context, width) => {
        const gutter = gutterOf(width);
        const across = width - gutter;
        drawAxis(canvas, context, width, end, kCurveHeight);
        const y = (value: number) => kAxisHeight + kCurveHeight * (1 - value / top);
        context.fillStyle = canvas.color('muted');
        for (const share of [0, 0.5, 1]) {
          const label = share === 0 ? '0' : text(share * top);
          const at = Math.min(y(share * top), kAxisHeight + kCurveHeight - 6);
          context.fillText(label, gutter - 8 - context.measureText(label).width, at);
        }
        lines.forEach((line, index) => {
          context.strokeStyle = canvas.color(kCurveColors[index]!);
          context.lineWidth = 1.5;
          context.beginPath();
          const columns = Math.min(Math.floor(across), line.values.length);
          levels(line.values, columns).forEach((value, x) => {
            context.lineTo(gutter + (x * across) / columns, y(value));
            context.lineTo(gutter + ((x + 1) * across) / columns, y(value));
          });
          context.stroke();
        });
      });
  return canvas;
}

const legend = (lines: Line[]): HTMLElement => h(
    'ul', {class: 'legend'},
    ...lines.map((line, index) => h('li', {}, h('span', {class: `swatch ${kCurveColors[index]}`}),
                                    `${line.name}`)));

function figure(title: string, ...parts: HTMLElement[]): HTMLElement {
  return h('figure', {class: 'samples'}, h('figcaption', {}, title), ...parts);
}

const linkName = (link: LinkSeries): string => `${link.from} → ${link.to}`;

// What a reader without the pictures needs.
function greatestTable(samples: Samples): HTMLElement {
  return h(
      'details', {}, h('summary', {}, `The greatest of ${count(samples.links.length)} links`),
      longTable(
          'In any interval; PAUSE frames in all.',
          [
            {title: 'Link', text: true, cell: linkName},
            {title: 'Longest queue', cell: link => bytes(greatest(link.peak_queue_bytes))},
            {
              title: 'Greatest rate',
              cell: link => bandwidth(greatest(link.bytes) / samples.width_s)
            },
            {title: 'PAUSE frames', cell: link => count(link.pauses.reduce((a, b) => a + b, 0))},
          ],
          samples.links, 10));
}

export function overTime(samples: Samples|null): HTMLElement|null {
  if (!samples || samples.intervals === 0 || samples.links.length === 0) return null;
  const parts: HTMLElement[] = [];
  for (const measure of measures(samples.width_s)) {
    const lines = samples.links.slice(0, kCurves).map(
        link => ({name: linkName(link), values: measure.values(link)}));
    parts.push(
        figure(`${measure.name} of the ${lines.length} worst links`,
               curves(measure.name, samples, lines, measure.text).element, legend(lines)),
        figure(`${measure.name} of ${samples.links.length} links, full colour at ` +
                   `${measure.text(measure.scale(samples))}`,
               heatMap(samples, measure).element));
  }
  if (samples.flows.length > 0) {
    const lines = samples.flows.slice(0, kCurves).map(
        flow => ({
          name: `flow ${flow.flow}`,
          values: flow.delivered_bytes.map(value => value / samples.width_s)
        }));
    parts.push(figure('Throughput of flows',
                      curves('Throughput', samples, lines, bandwidth).element, legend(lines)));
  }
  return section(
      'samples', 'Over time',
      h('p', {class: 'hint'}, `In ${count(samples.intervals)} intervals of ` +
                                  `${seconds(samples.width_s)}; links by their longest queue. A frame counts where it ` +
                                  `begins to leave.`),
      ...parts, greatestTable(samples));
}
