// Bundles src/ into one HTML file: node build.mjs OUTPUT
import {readFile, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';

const output = process.argv[2] ?? 'dist/report.html';
const source = join(dirname(fileURLToPath(import.meta.url)), 'src');

async function bundle(file) {
  const result = await build({
    entryPoints: [join(source, file)],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: ['es2022', 'chrome110', 'firefox110', 'safari16'],
    charset: 'utf8',
    logLevel: 'warning',
  });
  return result.outputFiles[0].text.trim();
}

const [page, script, style] = await Promise.all([
  readFile(join(source, 'index.html'), 'utf8'),
  bundle('main.ts'),
  bundle('style.css'),
]);
// Functions as replacements, since "$&" in minified code means something to replace().
const text = page
  .replace('/*style*/', () => style)
  .replace('/*script*/', () => script.replaceAll('</script', '<\\/script'));
await writeFile(output, text);
