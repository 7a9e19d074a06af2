/** Markdown of the repository as a page of the site: its links lead to pages, or nowhere. */
import path from "node:path";

export interface MarkdownOptions {
  /** Of the file, from the repository's root. */
  readonly file: string;
  /** The address in the site by file; undefined for what is no page. */
  addressOf(file: string): string | undefined;
  titleOf(file: string): string | undefined;
  anchorsOf(file: string): ReadonlySet<string> | undefined;
}

/** Fenced code, which is left as it is; the rest of the text. */
const fences = /^(```[\s\S]*?^```)$/gm;
const link = /\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)/g;

/** A link to a file that is no page, such as a source, is its text alone: readers of the site have no repository. */
export function asSitePage(markdown: string, options: MarkdownOptions): string {
  const parts = markdown
    .split(fences)
    .map((part) => (part.startsWith("```") ? part : withLinks(part, options)));
  return parts.join("");
}

function withLinks(text: string, { file, addressOf, titleOf, anchorsOf }: MarkdownOptions): string {
  return text.replace(link, (whole, label: string, target: string) => {
    if (/^[a-z]+:/.test(target)) return whole;
    if (target.startsWith("#")) return `[${label}](#${rightAnchor(target.slice(1), anchorsOf(file))})`;
    const [name = "", anchor] = target.split("#");
    const linked = path.posix.join(path.posix.dirname(file), name).replace(/\/$/, "");
    const page = addressOf(linked) === undefined ? `${linked}/README.md` : linked;
    const address = addressOf(page);
    if (address === undefined) return label;
    // Named by its file, which readers of the site don't see.
    const text = /^[\w./-]+\.md$/.test(label) ? titleOf(page) : label;
    return `[${text}](${address}${anchor === undefined ? "" : `#${rightAnchor(anchor, anchorsOf(page))}`})`;
  });
}

/** What a link can name in a page: its headings, numbered where one is there again, and places with an id. */
export function anchorsOf(markdown: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ""] of markdown.matchAll(/^#+ (.+)$/gm)) {
    const name = anchorOf(heading);
    let [anchor, number] = [name, 1];
    while (anchors.has(anchor)) anchor = `${name}-${number++}`;
    anchors.add(anchor);
  }
  for (const [, id = ""] of markdown.matchAll(/<a id="([\w-]+)">/g)) anchors.add(id);
  return anchors;
}

/** The generator of the reference numbers what is there again in another way than its headings end up. */
const rightAnchor = (anchor: string, anchors: ReadonlySet<string> | undefined): string =>
  anchors?.has(anchor) === false ? anchor.replace(/-\d+$/, "") : anchor;

/** The first heading, without its marks. */
export const titleOf = (markdown: string): string =>
  /^# (.+)$/m.exec(markdown)?.[1]?.replace(/[`*]/g, "") ?? "";

/** As links in this repository name them, which are GitHub's: in small letters, without signs, with hyphens. */
export const anchorOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M} _-]/gu, "")
    .replaceAll(" ", "-");
