/**
 * `node docs/site/build.ts FOLDER`: the documentation site from the Markdown of docs/ and guides/, as the service serves it under
 * /docs/. Nothing is fetched. The pages need no inline script and no inline style, so that their policy allows neither.
 */
import { createHash } from "node:crypto";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";
import { build } from "vitepress";
import { BASE } from "./config.ts";
import { anchorsOf, asSitePage, titleOf } from "./markdown.ts";
import { addressOf, pages } from "./pages.ts";

const root = path.join(import.meta.dirname, "..", "..");

/** @param outDir becomes the site */
export async function buildDocumentation(outDir: string): Promise<void> {
  const cache = path.join(root, "node_modules", ".cache");
  await mkdir(cache, { recursive: true });
  // Within the repository, where the generator's parts are found.
  const source = await mkdtemp(path.join(cache, "signet-documentation-"));
  const output = path.resolve(outDir);
  try {
    const titles = await writePages(source);
    await writeSettings(source, titles, output);
    await build(source);
    for (const file of await readdir(output, { recursive: true }))
      if (file.endsWith(".html")) await withoutInlineParts(output, file);
    await writeFile(path.join(output, "licences.txt"), await licences());
    for (const file of await readdir(output, { recursive: true }))
      if (/\.(?:html|js|css|json)$/.test(file)) await compress(path.join(output, file));
  } finally {
    await rm(source, { recursive: true, force: true });
  }
}

/** @returns the pages' titles by their place */
async function writePages(source: string): Promise<Record<string, string>> {
  const texts = await Promise.all(
    pages.map(async ([file, place]) => {
      const text = await readFile(path.join(root, `${file}.md`), "utf8");
      return [`${file}.md`, { place, text, title: titleOf(text), anchors: anchorsOf(text) }] as const;
    }),
  );
  const byFile = new Map<string, (typeof texts)[number][1]>(texts);
  const addressAt = (file: string) => {
    const place = byFile.get(file)?.place;
    return place === undefined ? undefined : addressOf(place);
  };
  for (const [file, { place, text }] of texts) {
    const target = path.join(source, `${place}.md`);
    await mkdir(path.dirname(target), { recursive: true });
    const links = {
      ...{ file, addressOf: addressAt },
      titleOf: (of: string) => byFile.get(of)?.title,
      anchorsOf: (of: string) => byFile.get(of)?.anchors,
    };
    await writeFile(target, asSitePage(text, links));
  }
  await cp(path.join(import.meta.dirname, "index.md"), path.join(source, "index.md"));
  return Object.fromEntries(texts.map(([, { place, title }]) => [place, title]));
}

async function writeSettings(source: string, titles: object, output: string): Promise<void> {
  const settings = path.join(source, ".vitepress");
  await mkdir(path.join(settings, "theme"), { recursive: true });
  const here = (file: string) => JSON.stringify(path.join(import.meta.dirname, file));
  const call = `siteConfig(${JSON.stringify(titles)}, ${JSON.stringify(output)})`;
  await writeFile(
    path.join(settings, "config.mts"),
    `import { siteConfig } from ${here("config.ts")};\nexport default ${call};\n`,
  );
  await writeFile(
    path.join(settings, "theme", "index.mjs"),
    `import theme from "vitepress/theme-without-fonts";\nimport ${here("style.css")};\nexport default theme;\n`,
  );
}

/** Scripts become files, the same one for the same text; style attributes say nothing that the style sheets don't. */
async function withoutInlineParts(output: string, file: string): Promise<void> {
  const page = path.join(output, file);
  const html = await readFile(page, "utf8");
  const scripts: Promise<void>[] = [];
  const separate = html.replace(
    /<script( id="[\w-]+")?>([\s\S]*?)<\/script>/g,
    (_, id = "", text: string) => {
      const name = `inline.${createHash("sha256").update(text).digest("base64url").slice(0, 12)}.js`;
      scripts.push(writeFile(path.join(output, "assets", name), text));
      return `<script${id} src="${BASE}assets/${name}"></script>`;
    },
  );
  await Promise.all(scripts);
  await writeFile(page, separate.replace(/(<[a-z][^<>]*?) style="[^"]*"/gi, "$1"));
}

/** Of others, and in the scripts that readers load. */
const bundled = [
  ...["vitepress", "vue", "@vue/runtime-dom", "@vue/runtime-core", "@vue/reactivity", "@vue/shared"],
  ...[
    "@vueuse/core",
    "@vueuse/integrations",
    "@vueuse/shared",
    "focus-trap",
    "tabbable",
    "mark.js",
    "minisearch",
  ],
];

async function licences(): Promise<string> {
  const texts = bundled.map(async (name) => {
    const folder = path.join(root, "node_modules", name);
    const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
    const { version, license } = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));
    const text = file === undefined ? "" : await readFile(path.join(folder, file), "utf8");
    return `${name} ${version} (${license})\n\n${text.trim()}\n`;
  });
  return (await Promise.all(texts)).join(`\n${"-".repeat(72)}\n\n`);
}

/** Once, and not for each reader: beside the file. */
async function compress(file: string): Promise<void> {
  const text = await readFile(file);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: text.length };
  await writeFile(`${file}.br`, await promisify(brotliCompress)(text, { params }));
}

if (import.meta.main) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) throw new Error("usage: node docs/site/build.ts FOLDER");
  await buildDocumentation(folder);
}
