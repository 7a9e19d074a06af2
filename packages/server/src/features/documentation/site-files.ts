/** The files of the documentation site: of the built server, or built in a clone when somebody first asks. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import type { Clock } from "../../core/clock.ts";

export interface SiteFile {
  readonly bytes: Buffer;
  /** Strong entity tag with its quotes (RFC 9110 §8.8.3). */
  readonly etag: string;
  readonly contentType: string;
  readonly isCompressed: boolean;
  /** Its name changes with its content. */
  readonly isImmutable: boolean;
}

export type Site =
  | { readonly kind: "ready"; read(address: string, takesBrotli: boolean): Promise<SiteFile | undefined> }
  /** It takes some seconds of a processor. */
  | { readonly kind: "building" }
  | { readonly kind: "failed" };

/** Where the build puts them: `documentation/` beside `main.js`. */
const BUILT = path.join(import.meta.dirname, "..", "..", "documentation");
const SCRIPT = path.join(
  ...[import.meta.dirname, "..", "..", "..", "..", "..", "docs", "site", "build-cached.ts"],
);
const BUILD_TIMEOUT = 300_000;
const RETRY_AFTER = 60_000;

/** @param build makes the site, and gives its folder */
export function documentationSite(clock: Clock, build: () => Promise<string> = find): () => Site {
  let site: Site | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  const start = () => {
    site = { kind: "building" };
    build()
      .then(openSite)
      .then(
        (opened) => {
          site = opened;
        },
        () => {
          site = { kind: "failed" };
          failedAt = clock();
        },
      );
  };
  // Nobody waits for what is built already.
  if (build === find && existsSync(BUILT)) start();
  return () => {
    if (site === undefined || (site.kind === "failed" && clock() - failedAt > RETRY_AFTER)) start();
    return site as Site;
  };
}

async function find(): Promise<string> {
  if (existsSync(BUILT)) return BUILT;
  const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT], { timeout: BUILD_TIMEOUT });
  return stdout.trim().split("\n").at(-1) ?? "";
}

const contentTypes: ReadonlyMap<string, string> = new Map([
  [".html", "text/html; charset=utf-8"],
  [".js", "text/javascript; charset=utf-8"],
  [".css", "text/css; charset=utf-8"],
  [".json", "application/json"],
  [".svg", "image/svg+xml"],
  [".txt", "text/plain; charset=utf-8"],
]);

/** Only what is in the folder is served: an address is looked up, never joined to a path. */
async function openSite(folder: string): Promise<Site> {
  const files: ReadonlySet<string> = new Set(
    (await readdir(folder, { recursive: true })).map((file) => file.replaceAll("\\", "/")),
  );
  const fileAt = (address: string) =>
    [address, `${address}.html`, address.endsWith("/") || address === "" ? `${address}index.html` : ""].find(
      (file) => files.has(file) && contentTypes.has(path.extname(file)),
    );
  return {
    kind: "ready",
    read: async (address, takesBrotli) => {
      const file = fileAt(address);
      if (file === undefined || file === "404.html") return undefined;
      const isCompressed = takesBrotli && files.has(`${file}.br`);
      const bytes = await readFile(path.join(folder, isCompressed ? `${file}.br` : file));
      return {
        ...{ bytes, isCompressed, isImmutable: file.startsWith("assets/") },
        etag: `"${createHash("sha256").update(bytes).digest("hex").slice(0, 16)}"`,
        contentType: contentTypes.get(path.extname(file)) ?? "",
      };
    },
  };
}
