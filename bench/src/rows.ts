/** Every line of the design's table of speed (quality.md), in its order. */
import type { Row } from "./row.ts";
import { comparedRows } from "./rows/compared-rows.ts";

export const rows: readonly Row[] = [...comparedRows];
