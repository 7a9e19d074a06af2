/** Where the bars and areas of a chart are, in the units of its view box. */

export type Box = { width: number; height: number };

export type Bar = { x: number; y: number; width: number; height: number };

/** Of every value above zero. */
const MIN_HEIGHT = 2;

/** The part of its slot that a bar fills. */
const FILLED = 0.72;

const EDGES = [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10];

/** The value at the upper edge: round and even, so that its half is an integer. */
export function upperEdge(max: number): number {
  if (!(max > 0)) return 2;
  if (!Number.isFinite(max)) return Number.MAX_VALUE;
  const power = 10 ** Math.floor(Math.log10(max));
  const edges = EDGES.map((step) => Math.round(step * power * 10) / 10);
  return edges.find((edge) => edge >= max && edge % 2 === 0) ?? 10 * power;
}

/**
 * Bars of several kinds, one on the other.
 * @param stacks for each place, the numbers from the lowest to the uppermost; what is no number from 0 on counts as 0
 * @returns for each place as many bars; those of nothing have no height
 */
export function stackedBars(stacks: ReadonlyArray<readonly number[]>, { width, height }: Box): Bar[][] {
  const counted = stacks.map((stack) => stack.map(validCount));
  const top = upperEdge(Math.max(0, ...counted.map(sum)));
  const place = width / Math.max(1, stacks.length);
  return counted.map((stack, index) => {
    const heights = barHeights(stack, top, height);
    let y = height;
    return heights.map((own) => {
      y -= own;
      return {
        x: tenths((index + (1 - FILLED) / 2) * place),
        y: round(Math.max(0, y)),
        width: tenths(FILLED * place),
        height: round(own),
      };
    });
  });
}

/** Where minimum heights overflow the box, the tallest bar of the stack shrinks. */
function barHeights(stack: readonly number[], top: number, height: number): number[] {
  const heights = stack.map((count) => (count === 0 ? 0 : Math.max(MIN_HEIGHT, (count / top) * height)));
  const highest = heights.indexOf(Math.max(...heights));
  const over = sum(heights) - height;
  return over > 0 ? heights.map((own, index) => (index === highest ? own - over : own)) : heights;
}

/** A stepped line; `area` closes it down to the baseline. */
export function steppedLine(
  counts: readonly number[],
  { width, height }: Box,
): { line: string; area: string } {
  const counted = counts.map(validCount);
  const top = upperEdge(Math.max(0, ...counted));
  const place = width / Math.max(1, counts.length);
  const steps = counted.map((count, index) => {
    const y = round(height - (count / top) * height);
    return `${index === 0 ? `M0 ${y}` : `V${y}`}H${round((index + 1) * place)}`;
  });
  const line = steps.join("");
  return { line, area: line === "" ? "" : `${line}V${height}H0Z` };
}

export const highestStack = (stacks: ReadonlyArray<readonly number[]>): number =>
  Math.max(0, ...stacks.map((stack) => sum(stack.map(validCount))));

const validCount = (count: number): number => (Number.isFinite(count) && count > 0 ? count : 0);

const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0);

const round = (value: number): number => Math.round(value * 100) / 100;

/** Beside other bars nobody sees more, and a page of charts is a kilobyte lighter. */
const tenths = (value: number): number => Math.round(value * 10) / 10;
