/** The page layout of the examples, unrelated to signing in. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const style = readFileSync(new URL("style.css", import.meta.url), "utf8");

export interface Html {
  readonly html: string;
}
type Value = Html | readonly Html[] | string | number | undefined | false;

/** Escapes every value unless it was created by `html` itself. */
export function html(texts: TemplateStringsArray, ...values: readonly Value[]): Html {
  const parts = texts.map((text, index) => text + written(values[index]));
  return { html: parts.join("") };
}

function written(value: Value): string {
  if (value === undefined || value === false) return "";
  if (typeof value === "object") return "html" in value ? value.html : value.map(written).join("");
  return String(value).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** A list of names and values; what has no value is left out. */
export function facts(values: Readonly<Record<string, string | number | undefined>>): Html {
  const rows = Object.entries(values).filter(([, value]) => value !== undefined && value !== "");
  return html`<dl>${rows.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

/** @param script address of a deferred script of this application */
export function page(application: string, title: string, body: Html, script?: string): string {
  const deferred = script && html`<script src="${script}" type="module"></script>`;
  return `<!doctype html>${
    html`<html lang="en"><head><meta charset="utf-8"><title>${title} · ${application}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">
<style>${{ html: style }}</style>${deferred}</head>
<body><header>${application}<span>An example of Signet</span></header><main>${body}</main></body></html>`.html
  }`;
}

/**
 * Headers of every page.
 * @param signet the service's address: scripts may call it, and the form that signs out is sent on to it
 */
export function pageHeaders(signet: string): Record<string, string> {
  const hash = createHash("sha256").update(style).digest("base64");
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${hash}'`,
    "script-src 'self'",
    "img-src data:",
    `connect-src 'self' ${signet}`,
    `form-action 'self' ${signet}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  return {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policy.join("; "),
    "cache-control": "no-store",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
  };
}
