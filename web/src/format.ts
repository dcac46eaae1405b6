// Numbers for people, as the text report writes them: four significant digits and a unit.

function digits(value: number, significant = 4): string {
  if (value === 0) return '0';
  const magnitude = Math.floor(Math.log10(Math.abs(value)));
  const text = value.toFixed(Math.min(Math.max(significant - 1 - magnitude, 0), 12));
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

function scaled(
  value: number, units: readonly (readonly [number, string])[], significant = 4
): string {
  for (const [size, unit] of units) {
    if (Math.abs(value) >= size) return `${digits(value / size, significant)} ${unit}`;
  }
  const [size, unit] = units[units.length - 1]!;
  return `${digits(value / size, significant)} ${unit}`;
}

export const seconds = (value: number, significant = 4): string =>
  value === 0 ? '0 s'
              : scaled(value, [[1, 's'], [1e-3, 'ms'], [1e-6, 'µs'], [1e-9, 'ns'], [1e-12, 'ps']],
                     significant);

export const bytes = (value: number): string =>
  scaled(value, [[2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB'], [1, 'B']]);

// Classes of sizes end at powers of ten.
export const decimalBytes = (value: number): string =>
  scaled(value, [[1e12, 'TB'], [1e9, 'GB'], [1e6, 'MB'], [1e3, 'KB'], [1, 'B']]);

export const bandwidth = (bytesPerSecond: number): string =>
  scaled(bytesPerSecond, [[1e9, 'GB/s'], [1e6, 'MB/s'], [1e3, 'KB/s'], [1, 'B/s']]);

// As people name it: networks in Gb/s, what is inside a server in GB/s.
export const linkRate = (bytesPerSecond: number, kind: string): string =>
  kind === 'network'
    ? scaled(bytesPerSecond * 8, [[1e12, 'Tb/s'], [1e9, 'Gb/s'], [1e6, 'Mb/s'], [1, 'b/s']])
    : bandwidth(bytesPerSecond);

export const flops = (perSecond: number): string =>
  scaled(perSecond, [[1e15, 'PFLOP/s'], [1e12, 'TFLOP/s'], [1e9, 'GFLOP/s'], [1, 'FLOP/s']]);

export const percent = (fraction: number): string => `${(100 * fraction).toFixed(1)} %`;

export const count = (value: number): string => Math.round(value).toLocaleString('en-US');

// How many times `part` is of `whole`.
export const multiple = (part: number, whole: number): string => {
  if (whole <= 0) return '–';
  return part < 100 * whole ? (part / whole).toFixed(2) : count(part / whole);
};

export const share = (part: number, whole: number): number => (whole > 0 ? part / whole : 0);
