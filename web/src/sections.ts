// The parts of the report that have figures, in reading order. Each returns nothing when the result has none of it.

import {busbwChart, completionChart} from './chart';
import type {
  FastForward, Flows, FlowStatistics, Job, LinkRow, Percentiles, Repeat, Result,
  SharedLink, StepCollective
} from './data';
import {breakable, type Child, type Column, h, longTable, meter, type Part, section, table} from './dom';
import {
  bandwidth, bytes, count, decimalBytes, flops, linkRate, multiple, percent, seconds, share
} from './format';
import {list} from './prose';

export function header(result: Result): HTMLElement {
  const facts = [
    `${count(result.ranks)} ranks`,
    `${result.engine} engine`,
    `seed ${result.seed}`,
    `${count(result.events)} events`,
  ];
  return h(
      'header', {}, h('p', {class: 'mark'}, 'Trunkline'), h('h1', {}, result.title),
      h('p', {class: 'cluster'}, result.cluster),
      h('p', {class: 'facts'}, h('span', {class: `status ${result.status}`}, result.status),
        facts.join(' · ')));
}

function keyFigure(name: string, value: string, ...remarks: Child[]): HTMLElement {
  return h(
      'div', {}, h('dt', {}, name), h('dd', {class: 'big'}, value),
      ...remarks.map(remark => remark && h('dd', {class: 'remark'}, remark)));
}

// The time of the run, and what it is of the least and of the most that it could be.
function timeFigure(result: Result): HTMLElement {
  const against = (bound: number | null | undefined, name: string) =>
      bound ? `${share(result.time_s, bound).toFixed(3)} × the ${name} bound, ${seconds(bound)}` :
              null;
  const {iteration} = result;
  const figure = keyFigure(
      iteration ? 'Step time' : 'Time', seconds(result.time_s), against(result.bound_s, 'lower'),
      against(iteration?.serial_s, 'upper'));
  figure.className = 'lead';
  return figure;
}

export function keyFigures(result: Result): HTMLElement {
  const figures = [timeFigure(result)];
  const {iteration, memory, training} = result;
  if (iteration && training) {
    figures.push(
        keyFigure(
            'Throughput', count(iteration.tokens_per_s),
            `tokens/s, ${count(share(iteration.tokens_per_s, result.ranks))} a GPU`),
        keyFigure(
            'MFU', percent(iteration.mfu),
            `${flops(iteration.model_flops_per_gpu_s)} of ` +
                flops(training.peak_flops_per_gpu_s)));
  }
  if (memory) {
    const verdict = memory.fits ? 'fits' : 'does not fit';
    figures.push(keyFigure(
        'Memory', bytes(memory.per_gpu_bytes),
        h('span', memory.fits ? {} : {class: 'bad'},
          `of ${bytes(memory.capacity_bytes)}: ${verdict}`)));
  }
  const {flows} = result;
  if (flows?.fct_s && flows.slowdown) {
    figures.push(
        keyFigure(
            'Completion, P99', seconds(flows.fct_s.p99),
            `of ${count(flows.count)} flows; half within ${seconds(flows.fct_s.p50)}`),
        keyFigure(
            'Slowdown, P99', multiple(flows.slowdown.p99, 1),
            `times the flow alone; half within ${multiple(flows.slowdown.p50, 1)}`));
  }
  const last = result.rows?.[result.rows.length - 1];
  if (last) {
    figures.push(keyFigure(
        'Bus bandwidth', bandwidth(last.busbw_Bps),
        `${last.primitive} of ${bytes(last.bytes)}, ${last.algorithm}`));
  }
  return h('dl', {class: 'key'}, ...figures);
}

export function blocked(result: Result): Part {
  if (result.blocked.length === 0) return null;
  return section(
      'blocked', 'Who waits for whom',
      longTable(
          'The run did not end.',
          [
            {title: 'Rank', cell: row => `${row.rank}`, text: true},
            {title: 'Task', cell: row => `${row.task}`},
            {title: 'Waits for', cell: row => row.waits_for, text: true, wide: true},
          ],
          result.blocked, 20));
}

const how = (row: {algorithm: string; protocol: string}) =>
    breakable(`${row.algorithm}, ${row.protocol}`);

// Calls that neither × bound nor the bus bandwidth is of.
function earlyMembers(rows: StepCollective[]): string {
  const calls = rows.reduce((sum, row) => sum + row.count - row.timed_calls, 0);
  return calls === 0 ? '' :
      ` In ${count(calls)} of ${count(rows.reduce((sum, row) => sum + row.count, 0))} calls members ` +
          'that came early had moved bytes, so that less than the lower bound was left when the last ' +
          'came: × bound and bus bandwidth leave those out.';
}

export function collectives(result: Result): Part {
  if (!result.collectives || result.collectives.length === 0) return null;
  const rows = [...result.collectives].sort((a, b) => b.exposed_s - a.exposed_s);
  const most = Math.max(...rows.map(row => row.time_s));
  return section(
      'collectives', 'Collectives',
      table(
          'All calls of one step on the critical rank, most exposed first. The bar is the time of all ' +
              'calls, from the arrival of this rank and so with its wait for the others; its strong ' +
              'part is exposed, not hidden by compute.' + earlyMembers(rows),
          [
            {
              title: 'Collective',
              text: true,
              cell: row => h('span', {}, `${row.role} `, h('b', {}, breakable(row.primitive)))
            },
            {title: 'How', text: true, cell: how},
            {title: 'Ranks', cell: row => `${row.group_size}`},
            {title: 'Size', cell: row => bytes(row.bytes)},
            {title: 'Calls', cell: row => count(row.count)},
            {title: 'Time', cell: row => seconds(row.time_s)},
            {title: 'Waiting', cell: row => seconds(row.waiting_s)},
            {title: 'Exposed', cell: row => seconds(row.exposed_s)},
            {title: '× bound', cell: row => multiple(row.timed_s, row.bound_s * row.timed_calls)},
            {title: 'Bus bandwidth', cell: row => row.busbw_Bps === null ? '–' : bandwidth(row.busbw_Bps)},
            {
              title: 'Time and exposed',
              text: true,
              wide: true,
              cell: row => twoBars(row.time_s, row.exposed_s, most)
            },
          ],
          rows));
}

function twoBars(whole: number, part: number, scale: number): HTMLElement {
  const bar = meter(share(whole, scale), 'hidden-comm');
  const strong = h('span', {class: 'fill exposed'});
  strong.style.width = `${100 * share(Math.min(part, whole), scale)}%`;
  bar.append(strong);
  return bar;
}

export function rows(result: Result): Part {
  if (!result.rows) return null;
  return section(
      'rows', 'Bandwidth by size', result.rows.length > 2 && busbwChart(result.rows),
      table(
          'Times and bandwidths as nccl-tests defines them.',
          [
            {title: 'Size', cell: row => bytes(row.bytes), text: true},
            {title: 'Primitive', cell: row => breakable(row.primitive), text: true},
            {title: 'How', cell: how, text: true},
            {title: 'Time', cell: row => seconds(row.time_s)},
            {title: 'Bound', cell: row => seconds(row.bound_s)},
            {title: '× bound', cell: row => multiple(row.time_s, row.bound_s)},
            {title: 'Algorithm bandwidth', cell: row => bandwidth(row.algbw_Bps)},
            {title: 'Bus bandwidth', cell: row => bandwidth(row.busbw_Bps)},
          ],
          result.rows));
}

interface Quantity {
  name: string;
  count: number;
  values: Percentiles;
  cell: (value: number) => string;
}

// Completion times, then slowdowns, the latter by size, too.
function quantities(flows: FlowStatistics): Quantity[] {
  const times = (value: number): string => multiple(value, 1);
  const rows: Quantity[] = [];
  const add = (
      name: string, of: number, values: Percentiles|null, cell: (value: number) => string
  ): void => {
    if (values) rows.push({name, count: of, values, cell});
  };
  const arrived = flows.count - flows.unfinished;
  add('Completion', arrived, flows.fct_s, value => seconds(value));
  add('To the acknowledgement', arrived, flows.fct_ack_s, value => seconds(value));
  add('Slowdown', arrived, flows.slowdown, times);
  if (flows.sizes.length > 1) {
    for (const size of flows.sizes) {
      add(`Slowdown up to ${decimalBytes(size.up_to_bytes)}`, size.count, size.slowdown, times);
    }
  }
  return rows;
}

const kPercentiles: [string, keyof Percentiles][] =
    [['Mean', 'mean'], ['P50', 'p50'], ['P95', 'p95'], ['P99', 'p99'], ['Max', 'max']];

const quantityTable = (caption: string, flows: FlowStatistics): HTMLElement => table(
    caption,
    [
      {title: 'Of flows', text: true, cell: (row: Quantity) => row.name},
      {title: 'Flows', cell: row => count(row.count)},
      ...kPercentiles.map(([title, key]) => ({
                            title,
                            cell: (row: Quantity) => row.cell(row.values[key]),
                          })),
    ],
    quantities(flows));

const skipped = ({skips, skipped_share, error_s, tolerance}: FastForward): string =>
    skips === 0 ? `Nothing was skipped: no windows agreed within ${percent(tolerance)}.` :
                  `${percent(skipped_share)} of the time was skipped. Each completion is within ` +
            `${seconds(error_s)} of the whole run's if paces stay in the band seen.`;

export function flows(result: Result): Part {
  const {flows, fast_forward} = result;
  if (!flows) return null;
  const missing = flows.unfinished > 0 ? `, ${count(flows.unfinished)} of them not delivered` : '';
  return section(
      'flows', 'Flows', flows.completion.length > 2 && completionChart(flows),
      quantityTable(
          `${count(flows.count)} flows${missing}. From post to the arrival of the last byte; ` +
              'slowdown is against the same flow alone on its path.',
          flows),
      fast_forward && h('p', {}, skipped(fast_forward)),
      ...flows.jobs.map(job => quantityTable(`Of job ${job.name}.`, job)),
      flows.stuck.length > 0 && list(flows.stuck));
}

export function packets(result: Result): Part {
  const {packets, link_hops} = result;
  if (!packets || !link_hops) return null;
  const kinds: [string, 'data'|'ack'|'control'][] =
      [['Data', 'data'], ['Acknowledgements', 'ack'], ['Control', 'control']];
  const events: [string, number|null][] = [
    ['marked by ECN', result.ecn_marks],
    ['PAUSE frames', result.pauses],
    ['waits for credits', result.credit_stalls],
    ['dropped', result.drops],
    ['trimmed', result.trims],
    ['sent again', result.retransmissions],
    ['timeouts', result.timeouts],
  ];
  const seen = events.filter(([, number]) => number).map(
      ([what, number]) => `${count(number!)} ${what}`);
  return section(
      'packets', 'Packets',
      table(
          `${seen.length > 0 ? seen.join(', ') : 'Nothing marked, paused, dropped or sent again'}.`,
          [
            {title: 'Packets', text: true, cell: ([title]) => title},
            {title: 'Sent', cell: ([, key]) => count(packets[key])},
            {title: 'Hops over links', cell: ([, key]) => count(link_hops[key])},
          ],
          kinds),
      ...paused(result.flows?.paused ?? []));
}

// Who stood still, and for which output of the switch that said so.
function paused(links: Flows['paused']): HTMLElement[] {
  if (links.length === 0) return [];
  return [longTable(
      'Longest paused, and the output that most of the packets without room were for.',
      [
        {title: 'Link', text: true, cell: row => linkName(row)},
        {title: 'Class', cell: row => `${row.class}`},
        {title: 'Pauses', cell: row => count(row.pauses)},
        {title: 'Paused for', cell: row => seconds(row.paused_s)},
        {title: 'Towards', text: true, cell: row => row.cause_to},
        {title: 'Share', cell: row => row.cause_to === '' ? '' : percent(row.cause_share)},
      ],
      links, 8)];
}

// Why a run as packets did not end sooner: the messages of the chain that waited longest.
export function criticalPath(result: Result): Part {
  const path = result.critical_path;
  if (!path) return null;
  return section(
      'critical', 'What the end waited for',
      table(
          `The last message ends a chain of ${count(path.messages)}, which waited ` +
              `${seconds(path.waited_s)} beyond what they take on idle paths. Those that waited longest:`,
          [
            {title: 'Message', text: true, cell: row => `rank ${row.from_rank} → ${row.to_rank}`},
            {title: 'At', cell: row => seconds(row.begin_s)},
            {title: 'Took', cell: row => seconds(row.time_s)},
            {title: 'Idle path', cell: row => seconds(row.alone_s)},
            {title: 'Longest queue', cell: row => bytes(row.max_queue_bytes)},
            {
              title: 'Where',
              text: true,
              wide: true,
              cell: row => linkName({from: row.queue_from, to: row.queue_to}),
            },
          ],
          path.worst));
}

export function packetWindow(result: Result): Part {
  const {window} = result;
  if (!window) return null;
  const {flow_s, packet_s, cut_error_s, step_delay_s, step_time_s} = window;
  const finding = step_time_s === null || step_delay_s === null ?
      `The packets of the window are ${window.status}: nothing follows for the step.` :
      `All that is in the window takes ${seconds(packet_s ?? 0)} as packets, ` +
          `${seconds(flow_s ?? 0)} as flows. The whole takes ${seconds(step_time_s)} with it: ` +
          `${seconds(result.time_s)} as flows, and ${seconds(step_delay_s)} by which the end ` +
          `moves if what follows takes as long as it did. Cut out, the window as flows is at most ` +
          `${seconds(cut_error_s ?? 0)} from what it is in the whole.`;
  const [fullest] = window.links;
  return section(
      'window', `From ${seconds(window.from_s)} to ${seconds(window.until_s)} as packets`,
      h('p', {}, finding,
        fullest ? ` The longest queue is ${bytes(fullest.max_queue_bytes)}, at ${fullest.from} → ${
                      fullest.to}.` :
                  ''),
      window.kinds.length === 0 ?
          h('ul', {}, ...window.stuck.map(text => h('li', {}, text))) :
          table(
              'Communication in the window, beside the same as flows.',
              [
                {title: 'Communication', text: true, cell: row => row.name},
                {title: 'Tasks', cell: row => count(row.tasks)},
                {title: 'In part', cell: row => count(row.cut)},
                {title: 'As flows', cell: row => seconds(row.flow_s)},
                {title: 'As packets', cell: row => seconds(row.packet_s)},
                {title: 'Latest by', cell: row => seconds(row.latest_delay_s)},
                {title: 'On rank', cell: row => `${row.latest_rank}`},
              ],
              window.kinds));
}

export function repeat(result: Result): Part {
  const {repeat} = result;
  if (!repeat) return null;
  const cell = (name: string, value: number): string =>
      /^(time|fct)_s/.test(name) ? seconds(value) : `${+ value.toPrecision(4)}`;
  const columns: Column<Repeat['figures'][number]>[] = [
    {title: 'Figure', text: true, cell: row => row.name},
    {title: 'Mean', cell: row => cell(row.name, row.mean)},
    {
      title: '± 95 %',
      cell: row => (row.half_width_95 === null ? '–' : cell(row.name, row.half_width_95))
    },
    {title: 'Least', cell: row => cell(row.name, row.least)},
    {title: 'Most', cell: row => cell(row.name, row.most)},
  ];
  return section(
      'repeat', 'Over several seeds',
      table(
          `${repeat.seeds.length} runs; the rest of this page is of the first.`, columns,
          repeat.figures));
}

const linkName = ({from, to}: {from: string; to: string}): HTMLElement =>
    h('span', {class: 'name'}, from, h('span', {class: 'to'}, ' → '), to);

const kJobColumns: Column<Job>[] = [
  {title: 'Job', text: true, cell: row => row.name},
  {
    title: 'Workload',
    text: true,
    cell: row => (row.repetitions > 1 ? `${row.repetitions} × ${row.workload}` : row.workload)
  },
  {title: 'Ranks', cell: row => count(row.ranks)},
  {title: 'Nodes', cell: row => count(row.nodes)},
  {title: 'Units', cell: row => count(row.units)},
  {title: 'From', cell: row => seconds(row.start_s)},
  {title: 'Alone', cell: row => seconds(row.alone.time_s)},
  {title: 'Together', cell: row => (row.together ? seconds(row.together.time_s) : '–')},
  {title: 'Times alone', cell: row => (row.slowdown === null ? '–' : multiple(row.slowdown, 1))},
  {title: 'Exposed alone', cell: row => seconds(row.alone.exposed_comm_s)},
  {
    title: 'Exposed together',
    cell: row => (row.together ? seconds(row.together.exposed_comm_s) : '–')
  },
];

// Who takes how much of a link, most first.
function usersOf(link: SharedLink): string {
  const whole = link.jobs.reduce((sum, job) => sum + job.bytes, link.background_bytes);
  const users = link.jobs.map(job => `${job.name} ${percent(share(job.bytes, whole))}`);
  if (link.background_bytes > 0) {
    users.push(`background ${percent(share(link.background_bytes, whole))}`);
  }
  return users.join(', ');
}

export function jobs(result: Result): Part {
  const {jobs, background} = result;
  const shared = result.shared_links ?? [];
  if (!jobs) return null;
  return section(
      'jobs', 'Jobs on one fabric',
      background &&
          h('p', {},
            `Background: ${background.pattern} at a load of ${background.load} between ${
                count(background.ranks)} endpoints, ${
                count(background.messages)} messages until the jobs had ended.`),
      longTable('Each alone on the same endpoints, and all together.', kJobColumns, jobs, 20),
      shared.length === 0 ?
          h('p', {}, 'No link is shared.') :
          longTable(
              `The fullest of ${count(result.shared_links_total ?? 0)} links that several cross; ` +
                  'shares are of what each sends over the link when it runs alone.',
              [
                {title: 'Link', text: true, cell: linkName},
                {title: 'Bytes', cell: row => bytes(row.bytes)},
                {title: 'Used', cell: row => percent(row.utilisation)},
                {title: 'By', text: true, wide: true, cell: usersOf},
              ],
              shared, 10));
}

const kQueueColumns: Column<LinkRow>[] = [
  {title: 'Longest queue', cell: row => bytes(row.max_queue_bytes ?? 0)},
  {title: 'Marked', cell: row => count(row.ecn_marks ?? 0)},
  {title: 'Paused', cell: row => count(row.pauses ?? 0)},
];

export function links(result: Result): Part {
  if (result.links.length === 0) return null;
  const classes = table(
      'Of each kind of link the narrowest, by utilisation over the whole run.',
      [
        {title: 'Narrowest', text: true, cell: linkName},
        {title: 'Kind', text: true, cell: row => row.kind},
        {title: 'Rate', cell: row => linkRate(row.rate_Bps, row.kind)},
        {title: 'Of links', cell: row => count(row.links)},
        {title: 'Mean', cell: row => percent(row.mean_utilisation)},
        {title: 'Used', cell: row => percent(row.utilisation)},
        {title: 'Utilisation', text: true, wide: true, cell: row => meter(row.utilisation, 'link')},
      ],
      result.link_classes);
  const all =
      h('details', {},
        h('summary', {},
          result.links.length === result.links_total ?
              `All ${count(result.links.length)} links, narrowest first` :
              `The ${count(result.links.length)} narrowest of ${count(result.links_total ?? 0)} links`),
        longTable(
            'Narrowest first.',
            [
              {title: 'Link', text: true, cell: linkName},
              {title: 'Kind', text: true, cell: row => row.kind ?? '–'},
              {
                title: 'Rate',
                cell: row =>
                    (row.rate_Bps === undefined ? '–' : linkRate(row.rate_Bps, row.kind ?? ''))
              },
              {title: 'Bytes', cell: row => bytes(row.bytes)},
              ...(result.packets ? kQueueColumns : []),
              {title: 'Used', cell: row => percent(row.utilisation)},
              {
                title: 'Utilisation',
                text: true,
                wide: true,
                cell: row => meter(row.utilisation, 'link')
              },
            ],
            result.links, 20));
  return section('links', 'Narrowest links', classes, all);
}
