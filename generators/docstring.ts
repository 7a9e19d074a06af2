/** A docstring, taken apart. */

export interface Docstring {
  /** Markdown. */
  readonly text: string;
  readonly parameters: readonly { readonly name: string; readonly text: string }[];
  readonly returns: string | undefined;
  readonly throws: readonly string[];
  readonly examples: readonly string[];
}

/** @param comment with its slashes and stars */
export function docstringOf(comment: string): Docstring {
  const body = comment
    .replace(/^\s*\/\*\*/, "")
    .replace(/\s*\*\/$/, "")
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, ""))
    .join("\n")
    .trim();
  const [text = "", ...tagged] = body.split(/^@(?=[a-z]+\b)/m);
  const tags = tagged.map((tag) => {
    const [, name = "", content = ""] = /^([a-z]+)\s*([\s\S]*)$/.exec(tag) ?? [];
    return { name, content: content.trim() };
  });
  const all = (wanted: string) => tags.filter(({ name }) => name === wanted).map(({ content }) => content);
  const parameters = all("param").map((content) => {
    const [, name = "", about = ""] = /^(\S+)\s*([\s\S]*)$/.exec(content) ?? [];
    return { name, text: about };
  });
  // `@throws` stands at the end of a line where one line is enough for the whole.
  const [, before = text, inline] = /^([\s\S]*?)\s@throws ([\s\S]*)$/.exec(text) ?? [];
  return {
    text: before.trim(),
    parameters,
    returns: all("returns")[0],
    throws: [...(inline === undefined ? [] : [inline.trim()]), ...all("throws")],
    examples: all("example").map((code) => code.replace(/^```\w*\n([\s\S]*)\n```$/, "$1")),
  };
}

/** For tables. */
export const firstSentence = (text: string): string =>
  (/^[\s\S]*?[.:](?=\s|$)/.exec(text)?.[0] ?? text)
    .replaceAll(/\s+/g, " ")
    .replace(/:$/, ".")
    .replaceAll("|", "\\|");
