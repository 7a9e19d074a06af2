/** Paths of tiles below the address of a log (C2SP tlog-tiles). */
import { TILE_WIDTH } from "./merkle.ts";

export interface TilePath {
  /** `entries` for a bundle of log entries. */
  readonly level: number | "entries";
  readonly index: number;
  /** 256 for a full tile. */
  readonly width: number;
}

export function formatTilePath({ level, index, width }: TilePath): string {
  const groups: string[] = [];
  for (let rest = index; groups.length === 0 || rest > 0; rest = Math.floor(rest / 1_000))
    groups.unshift(`${groups.length === 0 ? "" : "x"}${String(rest % 1_000).padStart(3, "0")}`);
  return `tile/${level}/${groups.join("/")}${width === TILE_WIDTH ? "" : `.p/${width}`}`;
}

const pattern = /^(entries|[0-9]|[1-5][0-9]|6[0-3])\/((?:x[0-9]{3}\/)*[0-9]{3})(?:\.p\/([1-9][0-9]{0,2}))?$/;

/** @param path what follows `tile/`; undefined for any other spelling: every tile has one address */
export function parseTilePath(path: string): TilePath | undefined {
  const found = path.length > 64 ? null : pattern.exec(path);
  const [, level = "", digits = "", width] = found ?? [];
  if (!found) return undefined;
  const tile: TilePath = {
    level: level === "entries" ? level : Number(level),
    index: Number(digits.replaceAll(/[x/]/g, "")),
    width: width === undefined ? TILE_WIDTH : Number(width),
  };
  const isTile = Number.isSafeInteger(tile.index) && tile.width <= TILE_WIDTH;
  return isTile && formatTilePath(tile) === `tile/${path}` ? tile : undefined;
}
