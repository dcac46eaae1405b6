// What a fabric costs as it grows: the price of each GPU against their number, with the steps where
// the ports of the switches no longer do.

import {h, s, section, table} from './dom';
import {count} from './format';
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
};

export type Growth = {
  fabric: string;
  prices: string;
  currency: string;
  stopped_by: string;
  points: GrowthPoint[];
};

const kWidth = 720;
const kHeight = 300;
const kLeft = 64;
const kRight = 16;
const kBottom = 30;
const kTop = 24;

function curve(growth: Growth): SVGElement {
  const points = growth.points;
  const least = Math.log2(points[0]!.gpus);
  const most = Math.log2(points[points.length - 1]!.gpus);
  const top = Math.max(...points.map(point => point.per_gpu), 1) * 1.08;
  const x = (gpus: number) => kLeft +
      ((Math.log2(gpus) - least) / Math.max(most - least, 1e-9)) * (kWidth - kLeft - kRight);
  const y = (value: number) => kHeight - kBottom - (value / top) * (kHeight - kBottom - kTop);
  const chart = s('svg', {
    viewBox: `0 0 ${kWidth} ${kHeight}`,
    class: 'chart',
    role: 'img',
    'aria-label': 'Price of a GPU\'s share of the network against GPUs; the table below has the figures.',
  });
  for (const tick of ticks(0, top, 5)) {
    chart.append(
        s('line', {x1: kLeft, x2: kWidth - kRight, y1: y(tick), y2: y(tick), class: 'rule'}),
        s('text', {x: kLeft - 8, y: y(tick) + 4, class: 'tick end'}, count(tick)));
  }
  const every = Math.max(Math.round((most - least) / 6), 1);
  for (let size = Math.ceil(least); size <= most; size += every) {
    chart.append(
        s('text', {x: x(2 ** size), y: kHeight - 8, class: 'tick middle'}, count(2 ** size)));
  }
  chart.append(s('polyline', {
    points: points.map(point => `${x(point.gpus)},${y(point.per_gpu)}`).join(' '),
    class: 'line',
  }));
  points.forEach((point, i) => {
    chart.append(s('circle', {cx: x(point.gpus), cy: y(point.per_gpu), r: 2.5, class: 'dot'}));
    if (i === 0 || point.tiers === points[i - 1]!.tiers) return;
    chart.append(
        s('line', {x1: x(point.gpus), x2: x(point.gpus), y1: kTop, y2: kHeight - kBottom, class: 'rule'}),
        s('text', {x: x(point.gpus), y: kTop - 4, class: 'tick middle'}, `${point.tiers} tiers`));
  });
  chart.append(s('text', {x: kLeft - 8, y: kTop - 10, class: 'tick end'}, growth.currency));
  return chart;
}

export function growthPage(growth: Growth): HTMLElement[] {
  const money = (amount: number) => `${count(Math.round(amount))} ${growth.currency}`;
  return [
    h('header', {}, h('p', {class: 'mark'}, 'Trunkline'), h('h1', {}, 'What it costs to grow'),
      h('p', {class: 'cluster'}, growth.fabric),
      h('p', {class: 'facts'}, `prices: ${growth.prices}`)),
    h('main', {},
      section(
          'growth', 'Price of a GPU\'s share of the network', curve(growth),
          growth.stopped_by !== '' && h('p', {}, `It grows no further: ${growth.stopped_by}`),
          table(
              'Four points to a doubling, and both sides of every added tier.',
              [
                {title: 'GPUs', cell: point => count(point.gpus)},
                {title: 'Nodes', cell: point => count(point.nodes)},
                {title: 'Tiers', cell: point => `${point.tiers}`},
                {title: 'Switches', cell: point => count(point.switches)},
                {title: 'Cables', cell: point => count(point.cables)},
                {title: 'Price', cell: point => money(point.price)},
                {title: 'Per GPU', cell: point => money(point.per_gpu)},
                {title: 'Power', cell: point => `${count(Math.round(point.watts / 1000))} kW`},
              ],
              growth.points))),
    h('footer', {}, 'Priced by Trunkline. The same figures are in growth.json.'),
  ];
}
