// node report.test.mjs SAMPLE OUTPUT_DIRECTORY CHROMIUM
//
// Opens the reports that SAMPLE writes, in both themes and at two widths, and compares what the
// page shows with the JSON beside it. Screenshots stay in OUTPUT_DIRECTORY.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {pathToFileURL} from 'node:url';

const [sample, output, executablePath] = process.argv.slice(2);
const {chromium} =
    createRequire(new URL('../../web/package.json', import.meta.url))('playwright-core');

rmSync(output, {recursive: true, force: true});
mkdirSync(output, {recursive: true});
execFileSync(sample, [output]);
const profile = mkdtempSync(join(tmpdir(), 'trunkline-web-'));
const context = await chromium.launchPersistentContext(profile, {
  executablePath,
  headless: true,
  viewport: null,
  args: [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
});

const kWidths = [1280, 1010, 700, 390];
const kThemes = ['light', 'dark'];

// Opens a report; the page must log no error and ask for nothing but itself.
async function open(name, {width = 1280, theme = 'light'} = {}) {
  const page = await context.newPage();
  const url = pathToFileURL(resolve(output, `${name}.html`)).href;
  const complaints = [];
  page.on('console', message => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', error => complaints.push(String(error)));
  page.on('request', request => {
    if (request.url() !== url && !request.url().startsWith('data:')) complaints.push(request.url());
  });
  await page.emulateMedia({colorScheme: theme});
  await page.setViewportSize({width, height: 900});
  await page.goto(url);
  await page.evaluate(
      () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
  return {page, complaints, result: JSON.parse(readFileSync(join(output, `${name}.json`), 'utf8'))};
}

// The number that a cell such as "1,234.5 ms" stands for, in base units.
function quantity(text) {
  const units = {
    'ps': 1e-12,
    'ns': 1e-9,
    'µs': 1e-6,
    'ms': 1e-3,
    's': 1,
    '%': 0.01,
    'B': 1,
    'KiB': 2 ** 10,
    'MiB': 2 ** 20,
    'GiB': 2 ** 30,
    'TiB': 2 ** 40,
    'GB/s': 1e9,
    'MB/s': 1e6,
    'KB/s': 1e3,
    '': 1,
  };
  const [, number, unit] = /^([\d.,]+) ?(\S*)$/.exec(text.trim());
  return Number(number.replaceAll(',', '')) * units[unit];
}

function near(text, value, what) {
  const shown = quantity(text);
  assert.ok(
      Math.abs(shown - value) <= Math.max(Math.abs(value) * 1e-3, 0.0006),
      `${what}: shows ${text}, JSON has ${value}`);
}

// The cells of a section's table, as text.
const cells = (page, id) => page.$$eval(
    `#${id} tbody tr`, rows => rows.map(row => [...row.children].map(cell => cell.textContent)));

const overflow = page => page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth);

// Distinct colours on the canvas: a blank one has one.
const colors = page => page.$eval('canvas', canvas => {
  const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  return new Set(new Uint32Array(data.buffer)).size;
});

// WCAG contrast of every text against the background behind it.
const poorContrast = page => page.evaluate(() => {
  const parse = color => (color.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = ([r, g, b]) => {
    const [x, y, z] =
        [r, g, b].map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = element => {
    for (let at = element; at; at = at.parentElement) {
      const color = parse(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const poor = [];
  const walker = document.createTreeWalker(document.getElementById('report'), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !element.checkVisibility()) continue;
    const [a, b] = [parse(getComputedStyle(element).color), behind(element)].map(luminance);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5)
      poor.push(`${walker.currentNode.textContent.slice(0, 40)}: ${ratio.toFixed(2)}`);
  }
  return poor;
});

const tests = {
  async 'shows the figures of the JSON'() {
    const {page, complaints, result} = await open('training');
    const {iteration} = result;
    near(await page.textContent('.lead .big'), result.time_s, 'step time');
    const bounds = await page.$$eval('.lead .remark', all => all.map(one => one.textContent));
    [['lower', result.bound_s], ['upper', iteration.serial_s]].forEach(([name, bound], i) => {
      const [, times, time] = new RegExp(`^([\\d.]+) × the ${name} bound, (.*)$`).exec(bounds[i]);
      near(times, result.time_s / bound, `times the ${name} bound`);
      near(time, bound, `${name} bound`);
    });
    const kernels = await cells(page, 'kernels');
    result.training.kernels.forEach(({efficiency}, i) => {
      if (efficiency === null) assert.equal(kernels[i][3], '–');
      else near(kernels[i][3].replace('≈ ', ''), efficiency, 'efficiency');
    });
    const parts = await cells(page, 'breakdown');
    assert.deepEqual(
        parts.map(row => row[0]), ['Compute', 'Exposed communication', 'Bubble', 'Other']);
    const times =
        [iteration.compute_s, iteration.exposed_comm_s, iteration.bubble_s, iteration.other_s];
    parts.forEach((row, i) => {
      near(row[1], times[i], row[0]);
      near(row[2], times[i] / iteration.time_s, `share of ${row[0]}`);
    });
    const [collective] = await cells(page, 'collectives');
    near(collective[3], result.collectives[0].bytes, 'collective size');
    near(collective[5], result.collectives[0].time_s, 'collective time');
    near(collective[6], result.collectives[0].waiting_s, 'collective waiting');
    near(collective[7], result.collectives[0].exposed_s, 'collective exposed');
    near(collective[9], result.collectives[0].busbw_Bps, 'bus bandwidth');
    const links = await cells(page, 'links');
    [...result.link_classes, ...result.links].forEach((link, i) => {
      assert.equal(links[i][0], `${link.from} → ${link.to}`);
      near(links[i].at(-2), link.utilisation, 'link utilisation');
    });
    const stages = await cells(page, 'memory');
    result.memory.stages.forEach(
        (stage, i) => near(stages[i][6], stage.total_bytes, 'stage memory'));
    assert.equal((await page.$$('.questions > li')).length, 7);
    const values = await page.$$eval('.figures b', all => all.map(element => element.textContent));
    assert.deepEqual(values, result.explanation.flatMap(q => q.figures.map(f => f.value)));
    assert.deepEqual(complaints, []);
  },

  async 'shows a collective with its bandwidths'() {
    const {page, complaints, result} = await open('collective');
    const rows = await cells(page, 'rows');
    result.rows.forEach((row, i) => near(rows[i][7], row.busbw_Bps, 'bus bandwidth'));
    assert.equal(await page.$('#breakdown'), null);
    assert.deepEqual(complaints, []);
  },

  async 'breaks no name but after an underscore'() {
    for (const [name, id] of [['training', 'collectives'], ['collective', 'rows']]) {
      for (const width of kWidths) {
        const {page} = await open(name, {width});
        const broken = await page.$$eval(`#${id} tbody [data-label="How"] .value`, values => {
          const found = [];
          for (const value of values) {
            const walker = document.createTreeWalker(value, NodeFilter.SHOW_TEXT);
            while (walker.nextNode()) {
              for (const word of walker.currentNode.data.matchAll(/\S+/g)) {
                const range = document.createRange();
                range.setStart(walker.currentNode, word.index);
                range.setEnd(walker.currentNode, word.index + word[0].length);
                const lines = new Set([...range.getClientRects()].map(box => box.top));
                if (lines.size !== 1) found.push(word[0]);
              }
            }
          }
          return found.concat(values.length > 0 ? [] : ['nothing to break']);
        });
        assert.deepEqual(broken, [], `${name}, ${width} px`);
        await page.close();
      }
    }
  },

  async 'shows how long messages took, in packets'() {
    for (const width of kWidths) {
      const {page, complaints, result} = await open('messages', {width});
      const rows = await cells(page, 'flows');
      near(rows[0][2], result.flows.fct_s.mean, 'mean completion');
      near(rows[0][5], result.flows.fct_s.p99, 'P99 of completion');
      near(rows[2][5], result.flows.slowdown.p99, 'P99 of slowdown');
      // A step for each point of the distribution, up to 100 %.
      const path = await page.$eval('#flows path', element => element.getAttribute('d'));
      assert.equal(path.split('V').length - 1, result.flows.completion.length);
      const hops = await cells(page, 'packets');
      assert.equal(hops[0][2], '5,200');
      near((await cells(page, 'repeat'))[0][1], 1e-4, 'mean over seeds');
      assert.ok(await overflow(page) <= 0, `${width} px: scrolls sideways`);
      await page.screenshot({path: join(output, `messages-${width}.png`), fullPage: true});
      assert.deepEqual(complaints, []);
      await page.close();
    }
  },

  async 'shows a window as packets beside the same as flows'() {
    for (const width of kWidths) {
      const {page, complaints, result} = await open('window', {width});
      const [row] = await cells(page, 'window');
      near(row[3], result.window.kinds[0].flow_s, 'mean as flows');
      near(row[4], result.window.kinds[0].packet_s, 'mean as packets');
      const text = await page.$eval('#window p', element => element.textContent);
      assert.match(text, /takes 12\.?0* ms as packets, 10\.?0* ms as flows/);
      assert.ok(await overflow(page) <= 0, `${width} px: scrolls sideways`);
      assert.deepEqual(complaints, []);
      await page.close();
    }
  },

  async 'shows queues and rates over time'() {
    for (const width of kWidths) {
      for (const theme of kThemes) {
        const {page, complaints, result} = await open('messages', {width, theme});
        const where = `${width} px, ${theme}`;
        assert.deepEqual(
            result.samples,
            {file: null, every_s: 25e-6, count: 4, width_s: 25e-6, intervals: 4});
        const [first, second] = await cells(page, 'samples');
        assert.equal(first[0], 'leaf-0 → spine-0');
        near(first[1], 65536, 'longest queue');
        near(first[2], 1e6 / 25e-6, 'greatest rate');
        assert.equal(first[3], '3');
        near(second[2], 5e5 / 25e-6, 'greatest rate');
        // The map of queues: of the first link the second interval is in full colour, the third in
        // a weaker one, and the first has none.
        const row = await page.$$eval('#samples canvas', all => {
          const canvas = all[1];
          const ratio = canvas.width / canvas.clientWidth;
          const gutter = canvas.clientWidth < 600 ? 96 : 190;
          const {data} = canvas.getContext('2d').getImageData(0, 29 * ratio, canvas.width, 1);
          return [0, 1, 2, 3].map(i => {
            const x = gutter + (canvas.clientWidth - gutter) * (i + 0.4) / 4;
            const [r, g, b] = data.slice(4 * Math.floor(x * ratio));
            return `#${[r, g, b].map(v => v.toString(16).padStart(2, '0')).join('')}`;
          });
        });
        const color = name => page.evaluate(
            key => getComputedStyle(document.body).getPropertyValue(key).trim(), name);
        assert.equal(row[1], await color('--communication'), where);
        assert.equal(row[0], await color('--lane'), where);
        assert.equal(row[3], row[0], where);
        assert.ok(row[2] !== row[1] && row[2] !== row[0], where);
        await page.evaluate(() => document.querySelectorAll('details').forEach(d => {
          d.open = true;
        }));
        assert.ok(await overflow(page) <= 0, `${where}: scrolls sideways`);
        assert.deepEqual(await poorContrast(page), [], `${where}: contrast below 4.5`);
        await page.screenshot(
            {path: join(output, `samples-${width}-${theme}.png`), fullPage: true});
        assert.deepEqual(complaints, [], where);
        await page.close();
      }
    }
  },

  async 'fits both widths in both themes, with a drawn timeline and readable text'() {
    const backgrounds = new Set();
    for (const width of kWidths) {
      for (const theme of kThemes) {
        const {page, complaints} = await open('training', {width, theme});
        const where = `${width} px, ${theme}`;
        assert.ok(await overflow(page) <= 0, `${where}: scrolls sideways`);
        assert.ok(await colors(page) > 4, `${where}: the timeline is blank`);
        backgrounds.add(await page.evaluate(() => getComputedStyle(document.body).backgroundColor));
        await page.evaluate(() => document.querySelectorAll('details').forEach(d => {
          d.open = true;
        }));
        assert.deepEqual(await poorContrast(page), [], `${where}: contrast below 4.5`);
        assert.ok(await overflow(page) <= 0, `${where}: scrolls sideways when all is open`);
        await page.screenshot(
            {path: join(output, `training-${width}-${theme}.png`), fullPage: true});
        assert.deepEqual(complaints, [], where);
        await page.close();
      }
    }
    assert.equal(backgrounds.size, 2, 'the themes look alike');
  },

  async 'lets no name become markup'() {
    for (const width of kWidths) {
      const {page, complaints, result} = await open('hostile', {width});
      assert.equal(await page.textContent('h1'), result.title);
      assert.equal(await page.$('img'), null);
      assert.equal(await page.$('#report b:text("leaf")'), null);
      assert.ok(!(await page.title()).startsWith('owned'));
      assert.ok(await overflow(page) <= 0, 'scrolls sideways');
      assert.deepEqual(complaints, []);
      await page.close();
    }
  },

  async 'zooms, pans and names the span under the pointer'() {
    const {page, complaints} = await open('training');
    const canvas = await page.$('canvas');
    await canvas.scrollIntoViewIfNeeded();
    const picture = () => page.$eval('canvas', element => element.toDataURL());
    const settle = () => page.evaluate(
        () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
    const whole = await picture();
    await canvas.focus();
    await page.keyboard.press('+');
    await settle();
    const zoomed = await picture();
    assert.notEqual(zoomed, whole, 'plus does not zoom');
    await page.keyboard.press('ArrowRight');
    await settle();
    assert.notEqual(await picture(), zoomed, 'an arrow does not pan');
    await page.keyboard.press('0');
    await settle();
    assert.equal(await picture(), whole, '0 does not show all');
    const box = await canvas.boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + 60);
    await page.mouse.wheel(0, -400);
    await settle();
    assert.notEqual(await picture(), whole, 'the wheel does not zoom a focused timeline');
    await page.keyboard.press('0');
    await settle();
    // Stage 0 computes from the start: its first span is a forward of 10 ms.
    await page.mouse.move(box.x + 90, box.y + 24 + 26 + 8);
    const tip = await page.textContent('.tip');
    assert.ok(tip.includes('forward') && tip.includes('10 ms'), tip);
    await page.screenshot({path: join(output, 'tooltip.png')});
    assert.deepEqual(complaints, []);
  },

  async 'draws 100,000 spans within a frame or two'() {
    const {page, complaints} = await open('large');
    const canvas = await page.$('canvas');
    assert.match(await canvas.getAttribute('aria-label'), /Timeline of 100011 spans/);
    assert.ok(await colors(page) > 4, 'the timeline is blank');
    await canvas.focus();
    // Work, not wall-clock time: fill operations of one redraw are bounded by the width.
    const fills = await page.evaluate(async () => {
      let count = 0;
      const fill = CanvasRenderingContext2D.prototype.fillRect;
      CanvasRenderingContext2D.prototype.fillRect = function(...box) {
        ++count;
        fill.apply(this, box);
      };
      document.querySelector('canvas').dispatchEvent(new KeyboardEvent('keydown', {key: '0'}));
      await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
      return count;
    });
    assert.ok(
        fills > 1000 && fills < 11 * 1300, `${fills} rectangles for 11 lanes of about 1,000 px`);
    await page.screenshot({path: join(output, 'large.png'), fullPage: true});
    assert.deepEqual(complaints, []);
  },

  async 'draws what a fabric costs as it grows, with the step to a third tier'() {
    for (const width of kWidths) {
      const {page, complaints, result} = await open('growth', {width});
      assert.equal((await page.$$('#growth .dot')).length, result.points.length);
      assert.equal((await page.$$('#growth tbody tr')).length, result.points.length);
      const labels = await page.$$eval('#growth svg text', texts => texts.map(t => t.textContent));
      assert.ok(labels.includes('3 tiers'), labels.join(' '));
      const line = await page.$eval('#growth polyline', line => line.getAttribute('points'));
      const heights = line.split(' ').map(point => Number(point.split(',')[1]));
      // 1,000 USD a host on two tiers, 2,000 on three: twice as high above the axis.
      assert.ok(Math.abs(heights[0] - heights[1]) < 0.01 && heights[2] < heights[1]);
      assert.match(await page.textContent('header'), /<b>mine<\/b>/);
      // A curve for each collective; nothing of a step, as none was run.
      assert.deepEqual(await page.$$eval('#work h3', titles => titles.map(t => t.textContent)),
                       ['AllReduce of 1 GiB', 'AllToAll of 1 GiB']);
      assert.equal((await page.$$('#work .dot')).length, 2 * result.points.length);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      await page.screenshot({path: join(output, `growth-${width}.png`), fullPage: true});
      assert.deepEqual(complaints, []);
      await page.close();
    }
  },

  async 'prints every question open, on white'() {
    const {page} = await open('training', {theme: 'dark'});
    await page.emulateMedia({media: 'print', colorScheme: 'dark'});
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    assert.equal(
        await page.$eval('body', body => getComputedStyle(body).backgroundColor),
        'rgb(255, 255, 255)');
    assert.equal((await page.$$('details:not([open])')).length, 0);
    await page.pdf({path: join(output, 'training.pdf'), format: 'A4'});
  },
};

let failures = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
    console.log(`ok   the report ${name}`);
  } catch (error) {
    ++failures;
    console.log(`FAIL the report ${name}\n     ${error.message}`);
  }
}
await context.close();
rmSync(profile, {recursive: true, force: true});
process.exit(failures === 0 ? 0 : 1);
