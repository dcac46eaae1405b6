// Bus bandwidth against size, on a logarithmic axis of sizes.

import type {CollectiveRow} from './data';
import {s} from './dom';
import {bytes} from './format';
import {ticks} from './timeline';

const kWidth = 720;
const kHeight = 260;
const kLeft = 44;
const kRight = 16;
const kBottom = 30;
const kTop = 12;

export function busbwChart(rows: CollectiveRow[]): SVGElement {
  const sizes = rows.map(row => Math.log2(Math.max(row.bytes, 1)));
  const least = Math.min(...sizes);
  const most = Math.max(...sizes);
  const top = Math.max(...rows.map(row => row.busbw_Bps), 1) / 1e9 * 1.08;
  const x = (size: number) =>
      kLeft + ((size - least) / Math.max(most - least, 1)) * (kWidth - kLeft - kRight);
  const y = (value: number) => kHeight - kBottom - (value / top) * (kHeight - kBottom - kTop);
  const chart = s('svg', {
    viewBox: `0 0 ${kWidth} ${kHeight}`,
    class: 'chart',
    role: 'img',
    'aria-label': 'Bus bandwidth in GB/s against size; the table below has the figures.',
  });
  for (const tick of ticks(0, top, 5)) {
    chart.append(
        s('line', {x1: kLeft, x2: kWidth - kRight, y1: y(tick), y2: y(tick), class: 'rule'}),
        s('text', {x: kLeft - 8, y: y(tick) + 4, class: 'tick end'}, `${+ tick.toFixed(6)}`));
  }
  const every = Math.max(Math.round((most - least) / 6), 1);
  for (let size = Math.ceil(least); size <= most; size += every) {
    chart.append(s('text', {x: x(size), y: kHeight - 8, class: 'tick middle'}, bytes(2 ** size)));
  }
  const points = rows.map((row, i) => [x(sizes[i]!), y(row.busbw_Bps / 1e9)] as const);
  chart.append(
      s('polyline', {points: points.map(point => point.join(',')).join(' '), class: 'line'}),
      ...points.map(([cx, cy]) => s('circle', {cx, cy, r: 2.5, class: 'dot'})),
      s('text', {x: kLeft - 8, y: kTop - 2, class: 'tick end'}, 'GB/s'));
  return chart;
}
