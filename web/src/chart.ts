// Curves: bus bandwidth against size, and the share of flows that completed within a time; both on a
// logarithmic axis.

import type {CollectiveRow, Flows} from './data';
import {s} from './dom';
import {bytes, seconds} from './format';
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

// A step for each point: the distribution as it is, not as it might be between the points.
export function completionChart(flows: Flows): SVGElement {
  const points = flows.completion.map(point => [Math.log10(point.fct_s), point.share] as const);
  const least = points[0]![0];
  const most = Math.max(points[points.length - 1]![0], least + 0.01);
  const x = (time: number) =>
      kLeft + ((time - least) / (most - least)) * (kWidth - kLeft - kRight);
  const y = (share: number) => kHeight - kBottom - share * (kHeight - kBottom - kTop);
  const chart = s('svg', {
    viewBox: `0 0 ${kWidth} ${kHeight}`,
    class: 'chart',
    role: 'img',
    'aria-label': 'Share of flows that completed within a time; the table below has the figures.',
  });
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    chart.append(
        s('line', {x1: kLeft, x2: kWidth - kRight, y1: y(share), y2: y(share), class: 'rule'}),
        s('text', {x: kLeft - 8, y: y(share) + 4, class: 'tick end'}, `${100 * share} %`));
  }
  const kTicks = 5;
  for (let i = 0; i <= kTicks; ++i) {
    const time = least + (most - least) * i / kTicks;
    const anchor = i === 0 ? '' : i === kTicks ? ' end' : ' middle';
    chart.append(
        s('text', {x: x(time), y: kHeight - 8, class: `tick${anchor}`}, seconds(10 ** time, 3)));
  }
  chart.append(
      s('text', {x: kWidth - kRight, y: kTop - 2, class: 'tick end'}, 'completion time, log scale'));
  let path = `M${x(least)},${y(0)}`;
  for (const [time, share] of points) path += `H${x(time)}V${y(share)}`;
  chart.append(s('path', {d: path, class: 'line'}));
  return chart;
}
