/** Fills in forms with valid values, for tests that submit every form of every page. */

import type { TestPage } from "../fakes/browser.ts";
import { formsOn, type PageForm } from "./page-forms.ts";

/** Values for empty fields, by field name. */
const typed: Readonly<Record<string, string>> = {
  name: "pressed-twice",
  displayName: "Pressed twice",
  key: "pressed-twice",
  description: "Pressed twice",
  email: "pressed.twice@example.com",
  newEmail: "pressed.again@example.com",
  firstname: "Pressed",
  surname: "Twice",
  domain: "twice.example",
  url: "https://twice.example/hooks",
  identifier: "https://twice.example/api",
  redirectUris: "https://twice.example/callback",
  returnUrls: "https://twice.example/back",
  label: "pressed twice",
  // Of a witness (C2SP signed-note): its private key is nowhere.
  verifierKey: "twice.example+85f49fa6+BKbxbl3mD0ugQivUICr1aG3GlzgVVI+SaM6+jJSoE4wK",
};

/** The page's forms with every field filled that has to be, sent by their first button. @param more before the usual, by name */
export function filledForms(body: string, more: Readonly<Record<string, string>> = {}): PageForm[] {
  // Beside the button without a name, there are those that only show the page again; `change` is the only one of its form.
  const buttons = [...body.matchAll(/<button\b[^>]*\sname="([^"]+)"/g)]
    .map(([, name = ""]) => name)
    .filter((name) => name !== "change");
  return formsOn(body).map((form) => {
    const fields = { ...form.fields };
    for (const button of buttons) delete fields[button];
    for (const name of form.names) {
      if ((fields[name] ?? "") !== "" || buttons.includes(name)) continue;
      const value = more[name] ?? typed[name] ?? firstChoice(body, name);
      if (value !== undefined) fields[name] = value;
    }
    return { ...form, fields };
  });
}

/** Values for required choices without a default. */
const firstChoice = (body: string, name: string): string | undefined =>
  name === "scopes" || name === "application"
    ? new RegExp(`name="${name}" value="([^"]+)"`).exec(body)?.[1]
    : undefined;

/** Links to the page's own address with a choice in the query, where its form is: every kind, or one record of many. */
export function choicesOn({ url, body }: TestPage): string[] {
  const { pathname } = new URL(url);
  const links = [...body.matchAll(/href="([^"]+)"/g)].map(([, link = ""]) => new URL(link, url).href);
  const own = links.filter((link) => new URL(link).pathname === pathname);
  const kinds = own.filter((link) => link.includes("?kind="));
  return [...kinds, ...own.filter((link) => link.includes("?application=")).slice(0, 1)];
}
