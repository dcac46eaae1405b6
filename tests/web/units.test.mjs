// node units.test.mjs: the parts of the page that need no browser.
import assert from 'node:assert/strict';
import {createRequire} from 'node:module';
import test from 'node:test';
import {fileURLToPath} from 'node:url';

const web = new URL('../../web/', import.meta.url);
const {buildSync} = createRequire(new URL('package.json', web))('esbuild');

async function load(file) {
  const {outputFiles} = buildSync({
    entryPoints: [fileURLToPath(new URL(`src/${file}`, web))],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
  });
  return import(
      `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}

const {Lane, paintLane} = await load('lane.ts');
const {ticks} = await load('timeline.ts');
const format = await load('format.ts');
const {levels} = await load('samples.ts');

const kLabels = [{name: 'f', category: 'forward'}, {name: 'c', category: 'communication'}];

// Spans of 1 to `longest` units with gaps, from a fixed linear congruential generator.
function randomSpans(n, longest, seed) {
  const next = below => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % below;
  return Array.from({length: n}, () => [next(2), next(5), 1 + next(longest)]).flat();
}

test('a lane finds the span at an instant as a linear search does', () => {
  const lane = new Lane('r', 's', randomSpans(300, 9, 1), kLabels);
  for (let time = 0.5; time < lane.ends[299]; time += 3) {
    let expected = -1;
    for (let i = 0; i < lane.length; ++i) {
      if (lane.starts[i] <= time && time < lane.ends[i]) expected = i;
    }
    assert.equal(lane.at(time, 0), expected);
  }
});

test('painting conserves busy time at every zoom and stays bounded by the width', () => {
  for (const [n, longest] of [[50, 400], [5000, 30], [20000, 3]]) {
    const lane = new Lane('r', 's', randomSpans(n, longest, 7), kLabels);
    const end = lane.ends[n - 1];
    const busy = lane.busyIn(0, 0, n) + lane.busyIn(4, 0, n);
    for (const width of [200, 1000]) {
      let painted = 0;
      let operations = 0;
      paintLane(lane, 0, end, width, {
        span: (_, x0, x1) => {
          painted += x1 - x0;
          ++operations;
        },
        column: (_, shares) => {
          painted += shares.reduce((a, b) => a + b, 0);
          ++operations;
        },
      });
      const expected = (busy / end) * width;
      // A span that sticks out of its column by less than half a pixel is cut to it.
      assert.ok(Math.abs(painted - expected) < 0.005 * width, `${painted} px of ${expected}`);
      assert.ok(operations <= 2 * width, `${operations} operations for ${width} px`);
    }
  }
});

test('ticks are round and inside', () => {
  assert.deepEqual(ticks(0, 100, 5), [0, 20, 40, 60, 80, 100]);
  assert.deepEqual(ticks(3, 9, 3), [4, 6, 8]);
});

test('quantities read as the text report writes them', () => {
  assert.equal(format.seconds(0.0123456), '12.35 ms');
  assert.equal(format.seconds(1.5e-12), '1.5 ps');
  assert.equal(format.bytes(1048576), '1 MiB');
  assert.equal(format.linkRate(50e9, 'network'), '400 Gb/s');
  assert.equal(format.linkRate(370.8e9, 'nvlink'), '370.8 GB/s');
  assert.equal(format.bytes(4), '4 B');
  assert.equal(format.seconds(100), '100 s');
  assert.equal(format.bandwidth(179.2e6), '179.2 MB/s');
  assert.equal(format.percent(0.6712), '67.1 %');
  assert.equal(format.count(1234567), '1,234,567');
});

test('fewer columns than intervals show the greatest of each part', () => {
  assert.deepEqual(levels([1, 5, 2, 0, 9, 3], 3), [5, 2, 9]);
  assert.deepEqual(levels([1, 2], 4), [1, 1, 2, 2]);
  assert.deepEqual(levels([], 4), []);
});
