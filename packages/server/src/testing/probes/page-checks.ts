/** What every page has to pass: escaping, links, labels, unique ids. */
import assert from "node:assert/strict";
import { brotliCompressSync } from "node:zlib";
import { type Html, render } from "../../html/html.ts";
import type { PageFrame } from "../../html/layout.ts";
import { messages } from "../../html/messages/messages.ts";
import { stylesheet } from "../../html/stylesheet.ts";

export const testFrame: PageFrame = {
  messages: messages(["en"]),
  nonce: "dGVzdA",
  stylesheet: stylesheet.path,
};

/** Bytes of the stylesheet as it is sent. */
const SENT_STYLESHEET = brotliCompressSync(stylesheet.bytes).length;

const ATTACK = `"'></title></style><script>alert(1)</script><img src=x onerror=alert(1)>`;
const HARMLESS = "marker";
/** A value may be looked at as text, a web address, a path, or an image before it reaches the page. */
const DISGUISES = ["", "https://a.example/", "/", "data:image/png,"];
const RUNS_HERE = [
  "javascript:alert(1)",
  " JavaScript:alert(1)",
  "java\nscript:alert(1)",
  "data:text/html,x",
];
/** Our own texts and constants, which nobody stores or sends. */
const OURS = new Set(["messages", "stylesheet", "script", "error"]);
/** Every URI that a browser follows. */
const FOLLOWED = /\s(?:href|action|formaction|src)="([^"]*)"/g;

type Spot = { path: string; put: (value: string) => unknown };

/** Every string inside a view, each with a copy of the view that has another value there. */
function spots(value: unknown, path: string, put: (value: unknown) => unknown): Spot[] {
  if (typeof value === "string") return [{ path, put }];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    if (OURS.has(name)) return [];
    const replace = (other: unknown): unknown =>
      put(Array.isArray(value) ? value.with(Number(name), other) : { ...value, [name]: other });
    return spots(member, `${path}.${name}`, replace);
  });
}

/** Tags and attribute names without values: the same for harmless and hostile values. */
function skeleton(page: string): string[] {
  return (page.match(/<(?:"[^"]*"|[^">])*>/g) ?? []).map((tag) => tag.replace(/"[^"]*"/g, '""'));
}

function attempt(build: () => Html): string | undefined {
  try {
    return render(build());
  } catch (error) {
    // A page may refuse a URI outright (form-post.page.ts), but not fail otherwise.
    assert.ok(error instanceof TypeError, String(error));
    return undefined;
  }
}

/** No value of the view can add a tag or an attribute, or become a URI that runs a script. */
export function assertEscapes<View extends object>(build: (view: View) => Html, view: View): void {
  const found = spots(view, "view", (value) => value);
  assert.ok(found.length > 0);
  for (const { path, put } of found) {
    for (const disguise of DISGUISES) {
      const harmless = attempt(() => build(put(disguise + HARMLESS) as View));
      const hostile = attempt(() => build(put(disguise + ATTACK) as View));
      if (harmless === undefined || hostile === undefined) assert.equal(hostile, harmless, path);
      else assert.deepEqual(skeleton(hostile), skeleton(harmless), `${path} after "${disguise}"`);
    }
    for (const address of RUNS_HERE) {
      const page = attempt(() => build(put(address) as View)) ?? "";
      for (const [, target = ""] of page.replace(/<link rel="icon"[^>]*>/, "").matchAll(FOLLOWED)) {
        // Plain text runs nothing: recovery codes are downloaded as it.
        const runs = /^\s*(?:java\s*script|data:text(?!\/plain;charset=utf-8,))/i;
        assert.doesNotMatch(target, runs, `${path} as an address`);
      }
    }
  }
}

/** Small, without inline script or style, every control labelled, ids unique. */
export function assertWellMade(html: Html): void {
  const page = render(html);
  assert.ok(Buffer.byteLength(page) + SENT_STYLESHEET < 25_000, "weighs under 25 KB with its stylesheet");
  assert.match(page, /^<!doctype html>\n<html lang="en">/);
  assert.match(page, /<meta name="viewport" content="width=device-width, initial-scale=1">/);
  assert.doesNotMatch(page, /\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)|<style(?! nonce=")/);
  assert.doesNotMatch(
    page,
    /<(?:script|link|img)[^>]*\s(?:src|href)="(?:https?:)?\/\//,
    "asks no third party",
  );
  const ids = [...page.matchAll(/\sid="([^"]*)"/g)].map((match) => match[1]);
  assert.equal(new Set(ids).size, ids.length, "no id twice");
  for (const [tag] of page.matchAll(/<input (?!type="hidden")[^>]*>/g)) {
    const id = / id="([^"]*)"/.exec(tag)?.[1];
    assert.ok(
      id !== undefined && new RegExp(`<label for="${id}"(?: hidden)?>`).test(page),
      `a label for ${tag}`,
    );
  }
  for (const [, names = ""] of page.matchAll(/aria-(?:describedby|labelledby)="([^"]*)"/g)) {
    for (const name of names.split(" ")) assert.ok(ids.includes(name), `${name} is there`);
  }
  assert.equal(page.match(/<h1[ >]/g)?.length, 1, "one first heading");
}
