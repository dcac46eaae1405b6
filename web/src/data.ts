// The two documents that the page carries: the result (docs/report.md) and the recorded spans.

export type Iteration = {
  time_s: number;
  compute_s: number;
  exposed_comm_s: number;
  bubble_s: number;
  other_s: number;
  critical_rank: number;
  mean_compute_s: number;
  mean_exposed_comm_s: number;
  mean_bubble_s: number;
  mean_other_s: number;
  serial_s: number | null;
  tokens_per_s: number;
  mfu: number;
  model_flops_per_gpu_s: number;
};

export type StageMemory = {
  weights_bytes: number;
  gradients_bytes: number;
  optimizer_bytes: number;
  activations_bytes: number;
  other_bytes: number;
  total_bytes: number;
};

export type Memory = {
  per_gpu_bytes: number;
  capacity_bytes: number;
  fits: boolean;
  stages: StageMemory[];
};

export type Kernel = {
  name: string;
  shape: string;
  flops: number;
  memory_bytes: number;
  efficiency: number | null;
  extrapolated: boolean;
  time_s: number;
  source: string;
};

export type StepCollective = {
  role: string;
  primitive: string;
  algorithm: string;
  protocol: string;
  channels: number;
  group_size: number;
  bytes: number;
  count: number;
  time_s: number;
  waiting_s: number;
  exposed_s: number;
  bound_s: number;
  timed_calls: number;
  timed_s: number;
  busbw_Bps: number | null;
};

export type CollectiveRow = {
  primitive: string;
  bytes: number;
  count: number;
  dtype: string;
  algorithm: string;
  protocol: string;
  channels: number;
  time_s: number;
  bound_s: number;
  algbw_Bps: number;
  busbw_Bps: number;
};

export type LinkRow = {
  from: string;
  to: string;
  kind?: string;
  rate_Bps?: number;
  utilisation: number;
  bytes: number;
  packets: number|null;  // and what follows: of an engine of packets
  max_queue_bytes: number|null;
  ecn_marks: number|null;
  pauses: number|null;
};

// A quantity over flows.
export type Percentiles = {mean: number; p50: number; p95: number; p99: number; max: number};

export type FlowStatistics = {
  count: number;
  unfinished: number;
  fct_s: Percentiles | null;
  fct_ack_s: Percentiles | null;
  slowdown: Percentiles | null;
  sizes: {
    above_bytes: number; up_to_bytes: number; count: number;
    fct_s: Percentiles | null; slowdown: Percentiles | null;
  }[];
};

export type Flows = FlowStatistics & {
  unposted: number;
  completion: {fct_s: number; share: number}[];
  jobs: (FlowStatistics & {name: string})[];
  paused: {
    from: string; to: string; class: number; pauses: number; paused_s: number;
    cause_to: string; cause_share: number;
  }[];
  stuck: string[];
};

// Time that was skipped because it would only have repeated.
export type FastForward = {tolerance: number; skips: number; skipped_share: number; error_s: number};

// How often, by kind of packet.
export type Counts = {data: number; ack: number; control: number};

// The window of a step that ran again as packets.
export type Window = {
  status: string;
  from_s: number;
  until_s: number;
  flow_s: number | null;
  packet_s: number | null;
  cut_error_s: number | null;
  step_delay_s: number | null;
  step_time_s: number | null;
  kinds: {
    name: string; tasks: number; cut: number; flow_s: number; packet_s: number;
    latest_rank: number; latest_delay_s: number;
  }[];
  links: {from: string; to: string; max_queue_bytes: number}[];
  stuck: string[];
};

export type Repeat = {
  seeds: number[];
  figures: {
    name: string; mean: number; half_width_95: number | null; least: number; most: number;
  }[];
};

// Where a job's time went on the rank that was done last.
export type JobTimes = {time_s: number; compute_s: number; exposed_comm_s: number};

// One of several on one fabric.
export type Job = {
  name: string;
  workload: string;
  ranks: number;
  nodes: number;
  units: number;
  start_s: number;
  repetitions: number;
  alone: JobTimes;
  together: JobTimes | null;
  slowdown: number | null;
};

// A link that several jobs cross.
export type SharedLink = {
  from: string;
  to: string;
  utilisation: number;
  bytes: number;
  jobs: {name: string; bytes: number; share: number}[];
  background_bytes: number;
};

// Links that do the same job; from and to name the narrowest.
export type LinkClass = {
  name: string;
  kind: string;
  rate_Bps: number;
  links: number;
  from: string;
  to: string;
  utilisation: number;
  mean_utilisation: number;
};

export type Figure = {name: string; formula: string; numbers: string; value: string};

export type Question = {layer: string; question: string; answer: string; figures: Figure[]};

export type CriticalPath = {
  messages: number;
  waited_s: number;
  worst: {
    from_rank: number;
    to_rank: number;
    begin_s: number;
    time_s: number;
    alone_s: number;
    queue_from: string;
    queue_to: string;
    max_queue_bytes: number;
  }[];
};

export type Result = {
  title: string;
  cluster: string;
  ranks: number;
  status: string;
  engine: string;
  seed: number;
  time_s: number;
  bound_s: number;
  events: number;
  wall_s: number;
  iteration: Iteration | null;
  memory: Memory | null;
  training: {peak_flops_per_gpu_s: number; kernels: Kernel[]} | null;
  collectives: StepCollective[] | null;
  rows: CollectiveRow[] | null;
  jobs: Job[] | null;
  shared_links: SharedLink[] | null;
  shared_links_total: number | null;
  background: {pattern: string; load: number; ranks: number; messages: number} | null;
  flows: Flows | null;
  fast_forward: FastForward | null;
  packets: Counts | null;
  link_hops: Counts | null;
  drops: number | null;
  trims: number | null;
  ecn_marks: number | null;
  pauses: number | null;
  retransmissions: number | null;
  timeouts: number | null;
  credit_stalls: number | null;
  critical_path: CriticalPath | null;
  window: Window | null;
  repeat: Repeat | null;
  link_classes: LinkClass[];
  links: LinkRow[];
  links_total: number | null;
  blocked: {rank: number; task: number; waits_for: string}[];
  advice: string[];
  explanation: Question[];
  assumptions: string[];
  warnings: {code: string; message: string; hint: string}[];
};

// What spans are coloured by. A receive is posted early and mostly waits.
export const kCategories = [
  'forward', 'backward', 'recompute', 'optimizer', 'communication', 'receive',
] as const;
export type Category = (typeof kCategories)[number];

export type Timeline = {
  end: number;  // picoseconds
  labels: {name: string; category: Category}[];
  // spans: label, gap since the end before, duration, and so on
  ranks: {name: string; lanes: {stream: string; spans: number[]}[]}[];
};

export function embedded<T>(id: string): T {
  return JSON.parse(document.getElementById(id)!.textContent!) as T;
}
