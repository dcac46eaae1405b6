// The spans of one stream of one rank, and how they look at a given zoom.

import {type Category, kCategories, type Timeline} from './data';

export class Lane {
  readonly starts: Float64Array;
  readonly ends: Float64Array;
  readonly labels: Uint16Array;
  // busy[category][i]: time that spans before i spend in the category
  private readonly busy: Float64Array[];

  constructor(
      readonly rank: string, readonly stream: string, spans: number[],
      private readonly names: Timeline['labels']) {
    const n = spans.length / 3;
    this.starts = new Float64Array(n);
    this.ends = new Float64Array(n);
    this.labels = new Uint16Array(n);
    this.busy = kCategories.map(() => new Float64Array(n + 1));
    let at = 0;
    for (let i = 0; i < n; ++i) {
      this.labels[i] = spans[3 * i]!;
      this.starts[i] = at + spans[3 * i + 1]!;
      at = this.ends[i] = this.starts[i]! + spans[3 * i + 2]!;
      this.busy.forEach((sums, category) => {
        const adds = this.category(i) === kCategories[category];
        sums[i + 1] = sums[i]! + (adds ? this.ends[i]! - this.starts[i]! : 0);
      });
    }
  }

  get length(): number {
    return this.starts.length;
  }
  name(i: number): string {
    return this.names[this.labels[i]!]!.name;
  }
  category(i: number): Category {
    return this.names[this.labels[i]!]!.category;
  }

  // The first span that ends after `time`.
  firstAfter(time: number): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.ends[middle]! > time)
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }

  // The span at `time`, or the nearest within `tolerance`; -1 when there is none.
  at(time: number, tolerance: number): number {
    const next = this.firstAfter(time);
    const gap = (i: number) => Math.max(this.starts[i]! - time, time - this.ends[i]!, 0);
    const near = [next - 1, next].filter(i => i >= 0 && i < this.length && gap(i) <= tolerance);
    return near.length === 0 ? -1 : near.reduce((a, b) => (gap(b) < gap(a) ? b : a));
  }

  // Time in `category` (an index of kCategories) of spans first to last - 1.
  busyIn(category: number, first: number, last: number): number {
    return this.busy[category]![last]! - this.busy[category]![first]!;
  }
}

// What one lane draws between two instants: spans wide enough to be seen as rectangles, the others
// summed by pixel column, so that the work is bounded by the width and not by the number of spans.
export interface LanePainter {
  span(index: number, x0: number, x1: number): void;
  column(x: number, shares: number[]): void;
}

export function paintLane(
    lane: Lane, from: number, to: number, width: number, painter: LanePainter): void {
  const scale = width / (to - from);
  const wide = 1.5 / scale;
  let i = lane.firstAfter(from);
  while (i < lane.length && lane.starts[i]! < to) {
    const start = lane.starts[i]!;
    const end = lane.ends[i]!;
    if (end - start >= wide) {
      painter.span(i, (start - from) * scale, (end - from) * scale);
      ++i;
      continue;
    }
    const x = Math.floor((start - from) * scale);
    const edge = from + (x + 1) / scale;
    // Spans that end in this column are narrow; a wide one would reach beyond it.
    const last = Math.max(lane.firstAfter(edge), i + 1);
    painter.column(
        x, kCategories.map((_, category) => Math.min(lane.busyIn(category, i, last) * scale, 1)));
    i = last;
  }
}
