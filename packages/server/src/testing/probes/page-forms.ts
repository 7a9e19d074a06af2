/** Reads the forms of a page with the fields that a browser submits. */
import { plain } from "./console-browser.ts";

export interface PageForm {
  readonly action: string;
  /** The values of the fields; the first one for a repeated name. */
  readonly fields: Record<string, string>;
  /** The names of every field and button, including unchecked boxes. */
  readonly names: ReadonlySet<string>;
  /** The names of text fields whose value is shown again. */
  readonly typed: readonly string[];
}

/** The forms of the page itself that post, without the sign-out of its menu, with what stands in their fields, and typed what they ask to be typed. */
export function formsOn(body: string): PageForm[] {
  return [...body.matchAll(/<form[^>]*method="post"[^>]*action="([^"]+)"[^>]*>([\s\S]*?)<\/form>/g)]
    .map(([, action = "", content = ""]) => {
      const fields: Record<string, string> = {};
      const typed: string[] = [];
      for (const [input] of content.matchAll(/<(?:input|button)\b[^>]*>/g)) {
        const name = attribute(input, "name");
        const isChoice = /type="(?:checkbox|radio)"/.test(input);
        if (name === "" || (isChoice && !/\schecked/.test(input))) continue;
        fields[name] ??= attribute(input, "value");
        if (isChoice || /^<button/.test(input) || /type="(?:hidden|password|file)"/.test(input)) continue;
        typed.push(name);
      }
      for (const [, tag = "", text = ""] of content.matchAll(
        /<textarea\b([^>]*)>\n?([\s\S]*?)<\/textarea>/g,
      )) {
        fields[attribute(tag, "name")] = plain(text);
        typed.push(attribute(tag, "name"));
      }
      for (const [, tag = "", options = ""] of content.matchAll(/<select\b([^>]*)>([\s\S]*?)<\/select>/g))
        fields[attribute(tag, "name")] = attribute(
          /<option[^>]*selected[^>]*>/.exec(options)?.[0] ?? "",
          "value",
        );
      const name = /Type “([^”]+)” to confirm/.exec(content)?.[1];
      if (name !== undefined) fields["name"] = plain(name);
      const all = [...content.matchAll(/<(?:input|button|textarea|select)\b[^>]*>/g)];
      const names = new Set(all.map(([tag]) => attribute(tag, "name")).filter((one) => one !== ""));
      return { action: plain(action), fields, names, typed };
    })
    .filter(({ action }) => !action.endsWith("/end_session"));
}

/** What stands in a field that text is typed into; undefined when the page has none of this name. */
export function textIn(body: string, name: string): string | undefined {
  const inTextArea = new RegExp(`<textarea\\b[^>]*\\sname="${name}"[^>]*>\\n?([\\s\\S]*?)</textarea>`).exec(
    body,
  );
  if (inTextArea) return plain(inTextArea[1] ?? "");
  const input = new RegExp(`<input\\b[^>]*\\sname="${name}"[^>]*>`).exec(body)?.[0];
  return input === undefined ? undefined : attribute(input, "value");
}

const attribute = (tag: string, name: string): string =>
  plain(new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? "");
