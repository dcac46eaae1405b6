import {embedded, type Result, type Timeline} from './data';
import {h, section} from './dom';
import {growthPage, type Growth} from './growth';
import * as prose from './prose';
import {overTime, type Samples} from './samples';
import * as parts from './sections';
import {TimelineView} from './timeline';
import {breakdown, kernels, memory} from './training';

function timeline(data: Timeline): HTMLElement|null {
  if (data.ranks.length === 0 || data.end === 0) return null;
  return section(
      'timeline', 'Timeline', new TimelineView(data).element,
      h('p', {class: 'hint'},
        'Drag to move, pinch or scroll over the focused timeline to zoom; or arrow keys, + − and 0.'));
}

function runPage(): HTMLElement[] {
  const result = embedded<Result>('result');
  document.title = `${result.title} – Trunkline`;
  const main = h('main', {});
  for (const part
           of [parts.keyFigures(result),
               breakdown(result),
               prose.advice(result),
               parts.blocked(result),
               timeline(embedded<Timeline>('timeline')),
               parts.collectives(result),
               parts.rows(result),
               parts.jobs(result),
               parts.flows(result),
               parts.packets(result),
               parts.criticalPath(result),
               parts.packetWindow(result),
               overTime(embedded<Samples|null>('samples')),
               parts.repeat(result),
               parts.links(result),
               memory(result),
               prose.explanation(result),
               kernels(result),
               prose.assumptions(result),
               prose.warnings(result),
  ]) {
    if (part) main.append(part);
  }
  return [
    parts.header(result), main,
    h('footer', {},
      'Simulated by Trunkline. The same figures are in result.json; spans in trace.json ',
      'for Perfetto.'),
  ];
}

function costPage(): HTMLElement[] {
  const growth = embedded<Growth>('growth');
  document.title = `${growth.fabric} – Trunkline`;
  return growthPage(growth);
}

document.getElementById('report')!.append(
    ...(document.getElementById('growth') ? costPage() : runPage()));

// Paper shows everything.
addEventListener('beforeprint', () => {
  for (const details of document.querySelectorAll('details')) details.open = true;
});
