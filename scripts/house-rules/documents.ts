/** What readers find their way by: a README in every feature folder, links that lead somewhere, file names that exist. */
import { basename, dirname, join } from "node:path/posix";
import type { SourceFile } from "../source-files.ts";
import { type Fault, lineAt } from "./fault.ts";

const README_LINES = 15;
const featureFile = /^packages\/server\/src\/features\/.+\/[^/]+\.ts$/;
const link = /\]\(([^)#\s]+)(?:#[^)]*)?\)/g;
/** A whole file name in backticks, with or without its folders. Names of single files outside the repository have no folder. */
const fileName = /`((?:[\w.-]+\/)*[\w-]+(?:\.[a-z]+)*\.ts)`/g;

/** @param paths every file of the repository; @param documents its Markdown files */
export function documentFaults(paths: readonly string[], documents: readonly SourceFile[]): Fault[] {
  const known = new Set(paths);
  const names = new Set(paths.map((path) => basename(path)));
  const folders = new Set(paths.flatMap(foldersOf));
  const exists = (path: string) => known.has(path) || folders.has(path.replace(/\/$/, ""));
  const fault = (file: string, line: number, message: string): Fault => ({
    file,
    line,
    rule: "documents",
    message,
  });
  const missing = [...new Set(paths.filter((path) => featureFile.test(path)).map(dirname))]
    .filter((folder) => countSources(paths, folder) > 0 && !known.has(`${folder}/README.md`))
    .map((folder) => fault(`${folder}/README.md`, 1, "a feature folder has a README"));
  const inDocuments = documents.flatMap(({ path, text }) => {
    const isFeature = path.startsWith("packages/server/src/features/") && basename(path) === "README.md";
    const lines = text.trimEnd().split("\n").length;
    const tooLong = isFeature && lines > README_LINES;
    const deadLinks = [...text.matchAll(link)].filter(
      ([, target = ""]) => !/^[a-z]+:/.test(target) && !exists(join(dirname(path), target)),
    );
    const deadNames = isFeature || isMap(path) ? [...text.matchAll(fileName)] : [];
    return [
      ...(tooLong ? [fault(path, README_LINES + 1, `${lines} lines: at most ${README_LINES}`)] : []),
      ...deadLinks.map(({ 1: target, index }) =>
        fault(path, lineAt(text, index), `${target} does not exist`),
      ),
      ...deadNames
        .filter(([, name = ""]) => !isNamed(name, paths, names))
        .map(({ 1: name, index }) => fault(path, lineAt(text, index), `no file is called ${name}`)),
    ];
  });
  return [...missing, ...inDocuments];
}

/** Documents that lead through the sources. */
const isMap = (path: string): boolean =>
  path === "docs/architecture.md" || /^packages\/[^/]+\/(src\/.*)?README\.md$/.test(path);

function isNamed(name: string, paths: readonly string[], names: ReadonlySet<string>): boolean {
  const tail = name.replace(/^(\.\.\/)+/, "");
  return tail.includes("/") ? paths.some((path) => `/${path}`.endsWith(`/${tail}`)) : names.has(tail);
}

const countSources = (paths: readonly string[], folder: string): number =>
  paths.filter((path) => dirname(path) === folder && path.endsWith(".ts") && !path.endsWith(".test.ts"))
    .length;

function foldersOf(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}
