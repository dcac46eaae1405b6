// What a fabric costs as it grows, and how long work takes on it: the price of each GPU and times
// against their number, with the steps where the ports of the switches no longer do.

import {h, s, section, table} from './dom';
import {bytes, count, seconds} from './format';
import {ticks} from './timeline';

export type GrowthPoint = {
  nodes: number;
  gpus: number;
  tiers: number;
  switches: number;
  cables: number;
  price: number;
  per_gpu: number;
  watts: number;
  complete: boolean;
  all_reduce_s: number | null;
  all_to_all_s: number | null;
  step_s: number | null;
};

export type Growth = {
  fabric: string;
  prices: string;
  currency: string;
  end: string;  // what is counted under `gpus`: GPU or host
  stopped_by: string;
  collective_bytes: number;
  step: string | null;
  points: GrowthPoint[];
};

const kWidth = 720;
const kHeight = 300;
const kLeft = 64;
const kRight = 16;
const kBottom = 30;
const kTop = 24;

// Of what is drawn over the points that have it.
type Quantity = {
  of: (point: GrowthPoint) => number | null;
  text: (value: number) => string;
  unit: string;
  label: string;
};

function curve(growth: Growth, quantity: Quantity): SVGElement {
  const points = growth.points.flatMap(point => {
    const value = quantity.of(point);
    return value === null ? [] : [{...point, value}];
  });
  const least = Math.log2(points[0]!.gpus);
  const most = Math.log2(points[points.length - 1]!.gpus);
  const top = Math.max(...points.map(point => point.value)) * 1.08 || 1;
  const x = (gpus: number) => kLeft +
      ((Math.log2(gpus) - least) / Math.max(most - least, 1e-9)) * (kWidth - kLeft - kRight);
  const y = (value: number) => kHeight - kBottom - (value / top) * (kHeight - kBottom - kTop);
  const chart = s('svg', {
    viewBox: `0 0 ${kWidth} ${kHeight}`,
    class: 'chart',
    role: 'img',
    'aria-label': `${quantity.label} against ${growth.end}s; the table below has the figures.`,
  });
  for (const tick of ticks(0, top, 5)) {
    chart.append(
        s('line', {x1: kLeft, x2: kWidth - kRight, y1: y(tick), y2: y(tick), class: 'rule'}),
        s('text', {x: kLeft - 8, y: y(tick) + 4, class: 'tick end'}, quantity.text(tick)));
  }
  const every = Math.max(Math.round((most - least) / 6), 1);
  for (let size = Math.ceil(least); size <= most; size += every) {
    chart.append(
        s('text', {x: x(2 ** size), y: kHeight - 8, class: 'tick middle'}, count(2 ** size)));
  }
  chart.append(s('polyline', {
    points: points.map(point => `${x(point.gpus)},${y(point.value)}`).join(' '),
    class: 'line',
  }));
  points.forEach((point, i) => {
    chart.append(s('circle', {cx: x(point.gpus), cy: y(point.value), r: 2.5, class: 'dot'}));
    if (i === 0 || point.tiers === points[i - 1]!.tiers) return;
    chart.append(
        s('line', {x1: x(point.gpus), x2: x(point.gpus), y1: kTop, y2: kHeight - kBottom, class: 'rule'}),
        s('text', {
          x: x(point.gpus),
          y: kTop - 4,
          class: i === points.length - 1 ? 'tick end' : 'tick middle',
        }, `${point.tiers} tiers`));
  });
  chart.append(s('text', {x: kLeft - 8, y: kTop - 10, class: 'tick end'}, quantity.unit));
  return chart;
}

type Key = 'all_reduce_s' | 'all_to_all_s' | 'step_s';

// A curve where there is anything to draw; times in one unit on its axis.
function times(growth: Growth, key: Key, title: string): HTMLElement | false {
  const known = growth.points.map(point => point[key]).filter(time => time !== null);
  if (known.length < 2) return false;
  return h('div', {}, h('h3', {}, title),
           curve(growth, {of: point => point[key], text: value => seconds(value, 3), unit: '',
                          label: title}));
}

export function growthPage(growth: Growth): HTMLElement[] {
  const money = (amount: number) => `${count(Math.round(amount))} ${growth.currency}`;
  const time = (value: number | null) => value === null ? '–' : seconds(value);
  const size = bytes(growth.collective_bytes);
  return [
    h('header', {}, h('p', {class: 'mark'}, 'Trunkline'), h('h1', {}, 'What it costs to grow'),
      h('p', {class: 'cluster'}, growth.fabric),
      h('p', {class: 'facts'}, `prices: ${growth.prices}`)),
    h('main', {},
      section(
          'growth', `Price of a ${growth.end}'s share of the network`,
          curve(growth, {of: point => point.per_gpu, text: count, unit: growth.currency,
                         label: `Price of a ${growth.end}'s share of the network`}),
          growth.stopped_by !== '' && h('p', {}, `It grows no further: ${growth.stopped_by}`),
          table(
              'Four points to a doubling, and both sides of every added tier.',
              [
                {title: `${growth.end}s`, cell: point => count(point.gpus)},
                {title: 'Nodes', cell: point => count(point.nodes)},
                {title: 'Tiers', cell: point => `${point.tiers}`},
                {title: 'Switches', cell: point => count(point.switches)},
                {title: 'Cables', cell: point => count(point.cables)},
                {title: 'Price', cell: point => money(point.price)},
                {title: `Per ${growth.end}`, cell: point => money(point.per_gpu)},
                {title: 'Power', cell: point => `${count(Math.round(point.watts / 1000))} kW`},
              ],
              growth.points)),
      section(
          'work', 'How long work takes on it',
          growth.step !== null && times(growth, 'step_s', `A step of ${growth.step}`),
          times(growth, 'all_reduce_s', `AllReduce of ${size}`),
          times(growth, 'all_to_all_s', `AllToAll of ${size}`),
          table(
              `By the analytic engine, over all ${growth.end}s; a step has a replica for every so many of them.`,
              [
                {title: `${growth.end}s`, cell: point => count(point.gpus)},
                {title: 'AllReduce', cell: point => time(point.all_reduce_s)},
                {title: 'AllToAll', cell: point => time(point.all_to_all_s)},
                ...(growth.step === null ? [] : [
                  {title: 'Step', cell: (point: GrowthPoint) => time(point.step_s)},
                  {
                    title: 'GPU-seconds of a step',
                    cell: (point: GrowthPoint) =>
                        point.step_s === null ? '–' : count(point.step_s * point.gpus),
                  },
                ]),
              ],
              growth.points))),
    h('footer', {}, 'Priced by Trunkline. The same figures are in growth.json.'),
  ];
}
