/** The settings of the generator. What it loads or calls elsewhere by default is off. */
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { transformerStyleToClass } from "@shikijs/transformers";
import type { DefaultTheme, UserConfig } from "vitepress";
import { anchorOf } from "./markdown.ts";
import { addressOf, groups } from "./pages.ts";

export const BASE = "/docs/";
const CODE_STYLES = "code.css";

/** `<a id="…"></a>`, by which the reference names its members, is the one tag that is one. */
function namedPlace(state: StateInline, silent: boolean): boolean {
  if (state.src[state.pos] !== "<") return false;
  const [tag] = /^<a id="[\w-]+"><\/a>/.exec(state.src.slice(state.pos, state.pos + 200)) ?? [];
  if (tag === undefined) return false;
  if (!silent) state.push("html_inline", "", 0).content = tag;
  state.pos += tag.length;
  return true;
}

type Setup = NonNullable<NonNullable<UserConfig["markdown"]>["config"]>;
type StateInline = Parameters<Parameters<Parameters<Setup>[0]["inline"]["ruler"]["before"]>[2]>[0];

/** @param titles of the pages, by their place. @param outDir where the site is written */
export function siteConfig(
  titles: Readonly<Record<string, string>>,
  outDir: string,
): UserConfig<DefaultTheme.Config> {
  // Colours of code as classes: the policy of these pages allows no style attributes.
  const classes = transformerStyleToClass({ classPrefix: "code-" });
  return {
    title: "Signet",
    description: "Documentation of Signet",
    lang: "en-GB",
    base: BASE,
    outDir,
    cleanUrls: true,
    metaChunk: true,
    // A change of light and dark would write a style into the page.
    appearance: { disableTransition: false },
    head: [
      ["link", { rel: "icon", href: "data:," }],
      ["link", { rel: "stylesheet", href: `${BASE}${CODE_STYLES}` }],
    ],
    markdown: {
      // Text that looks like a tag is text.
      html: false,
      linkify: false,
      languageAlias: { env: "dotenv" },
      codeTransformers: [classes],
      theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
      config: (md) => void md.inline.ruler.before("html_inline", "anchor", namedPlace),
      anchor: { slugify: anchorOf },
      toc: { slugify: anchorOf },
      headers: { slugify: anchorOf },
    },
    themeConfig: {
      nav: [
        { text: "Quick starts", link: "/guides/", activeMatch: "/guides/" },
        { text: "SDK", link: "/sdk/", activeMatch: "/sdk/" },
        // Pages of the service itself, which a target keeps the site's router away from.
        { text: "API reference", link: "/api", target: "_self" },
        { text: "Console handbook", link: "/console", target: "_self" },
      ],
      sidebar: groups.map(({ title, pages }) => ({
        text: title,
        items: pages.map(([, place]) => ({ text: titles[place] ?? place, link: addressOf(place) })),
      })),
      outline: [2, 3],
      search: { provider: "local", options: { detailedView: false } },
      externalLinkIcon: false,
    },
    buildEnd: () => writeFile(path.join(outDir, CODE_STYLES), classes.getCSS()),
  };
}
