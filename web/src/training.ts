// The parts of the report that a training step alone has: where its time and memory go.

import type {Iteration, Memory, Result, StageMemory} from './data';
import {type Column, h, type Part, section, table} from './dom';
import {bytes, percent, seconds, share} from './format';

interface PartOfTime {
  name: string;
  kind: string;
  time: number;
  mean: number;
}

function partsOf(iteration: Iteration): PartOfTime[] {
  return [
    {name: 'Compute', kind: 'compute', time: iteration.compute_s, mean: iteration.mean_compute_s},
    {
      name: 'Exposed communication',
      kind: 'exposed',
      time: iteration.exposed_comm_s,
      mean: iteration.mean_exposed_comm_s
    },
    {
      name: 'Bubble',
      kind: 'bubble',
      time: iteration.bubble_s,
      mean: iteration.mean_bubble_s
    },
    {name: 'Other', kind: 'other', time: iteration.other_s, mean: iteration.mean_other_s},
  ];
}

export function breakdown(result: Result): Part {
  const {iteration} = result;
  if (!iteration) return null;
  const parts = partsOf(iteration);
  const strip =
      h('div', {class: 'strip', 'aria-hidden': 'true'},
        ...parts.filter(part => part.time > 0).map(part => {
          const element = h('span', {class: `fill ${part.kind}`, title: part.name});
          element.style.flexGrow = `${100 * share(part.time, iteration.time_s)}`;
          return element;
        }));
  const columns: Column<PartOfTime>[] = [
    {
      title: 'Part',
      text: true,
      cell: part => h('span', {}, h('span', {class: `swatch ${part.kind}`}), part.name)
    },
    {title: 'Time', cell: part => seconds(part.time)},
    {title: 'Share', cell: part => percent(share(part.time, iteration.time_s))},
    {title: 'Mean over ranks', cell: part => seconds(part.mean)},
  ];
  return section(
      'breakdown', 'Where the time goes', strip,
      table(
          `Rank ${iteration.critical_rank}, the last to finish: the parts add up to the step.`,
          columns, parts));
}

const kMemoryParts: [keyof StageMemory, string][] = [
  ['weights_bytes', 'Weights'],
  ['gradients_bytes', 'Gradients'],
  ['optimizer_bytes', 'Optimizer'],
  ['activations_bytes', 'Activations'],
  ['other_bytes', 'Other'],
];

function memoryBar(stage: StageMemory, memory: Memory): HTMLElement {
  const scale = Math.max(memory.capacity_bytes, ...memory.stages.map(s => s.total_bytes));
  const bar = h('span', {class: 'meter', 'aria-hidden': 'true'});
  kMemoryParts.forEach(([key], index) => {
    const fill = h('span', {class: `fill memory${index}`});
    fill.style.width = `${100 * share(stage[key], scale)}%`;
    bar.append(fill);
  });
  const limit = h('span', {class: 'limit'});
  limit.style.left = `${100 * share(memory.capacity_bytes, scale)}%`;
  bar.append(limit);
  return bar;
}

export function memory(result: Result): Part {
  const {memory} = result;
  if (!memory || memory.stages.length === 0) return null;
  const columns: Column<[StageMemory, number]>[] = [
    {title: 'Stage', text: true, cell: ([, index]) => `stage ${index}`},
    ...kMemoryParts.map(
        ([key, title], index) => ({
          title,
          cell: ([stage]: [StageMemory, number]) =>
              h('span', {}, h('span', {class: `swatch memory${index}`}), bytes(stage[key])),
        })),
    {title: 'Total', cell: ([stage]) => bytes(stage.total_bytes)},
    {title: 'Of capacity', text: true, wide: true, cell: ([stage]) => memoryBar(stage, memory)},
  ];
  return section(
      'memory', 'Memory by stage',
      table(
          `One GPU of each pipeline stage at its peak; the line marks the capacity, ` +
              `${bytes(memory.capacity_bytes)}.`,
          columns, memory.stages.map((stage, i) => [stage, i])));
}

export function kernels(result: Result): Part {
  const kernels = result.training?.kernels ?? [];
  if (kernels.length === 0) return null;
  const borrowed = 'Efficiencies marked ≈ are extrapolated or borrowed from another device.';
  return section(
      'kernels', 'Kernels',
      h('details', {},
        h('summary', {}, `${kernels.length} kernels of one layer and the head, on one GPU`),
        table(
            borrowed,
            [
              {title: 'Kernel', text: true, cell: row => row.name},
              {
                title: 'Shape',
                text: true,
                wide: true,
                cell: row => h('span', {class: 'name'}, row.shape)
              },
              {title: 'Time', cell: row => seconds(row.time_s)},
              {
                title: 'Efficiency',
                cell: row => row.efficiency === null ?
                    '–' :
                    `${row.extrapolated ? '≈ ' : ''}${percent(row.efficiency)}`
              },
              {title: 'Source', text: true, wide: true, cell: row => row.source},
            ],
            kernels)));
}
