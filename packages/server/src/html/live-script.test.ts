// A piece that is replaced says what is new in a place that stays, where screen readers hear it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { liveStatus } from "./components/live.ts";
import { render } from "./html.ts";
import { liveScript } from "./scripts.ts";

type Piece = { outerHTML: string; dataset: { live: string; says: string } };

/** The page with one piece, whose script asks when it is told to. */
function pageWith(first: Piece) {
  const status = { textContent: "" };
  const asks: Array<() => Promise<void>> = [];
  let next = first;
  const piece = (one: Piece) => ({
    ...one,
    contains: () => false,
    querySelectorAll: () => [],
    replaceWith: () => {},
    dispatchEvent: () => true,
  });
  runInNewContext(liveScript.bytes.toString(), {
    document: {
      hidden: false,
      activeElement: null,
      getSelection: () => null,
      adoptNode: (node: unknown) => node,
      getElementById: (id: string) => (id === "live-status" ? status : null),
      querySelectorAll: () => [piece(first)],
    },
    CustomEvent,
    setTimeout: (ask: () => Promise<void>) => asks.push(ask),
    fetch: async () => ({ ok: true, status: 200, text: async () => "" }),
    DOMParser: class {
      parseFromString() {
        return { querySelectorAll: () => [piece(next)] };
      }
    },
  });
  return async (fresh: Piece): Promise<string> => {
    next = fresh;
    status.textContent = "";
    await asks.shift()?.();
    return status.textContent;
  };
}

test("announces only the changed lines of a live part", async () => {
  const live = "/pools/live";
  const piece = (outerHTML: string, ...says: string[]): Piece => ({
    outerHTML,
    dataset: { live, says: says.join("\n") },
  });
  const becomes = pageWith(piece("1", "HSM: Working.", "Backup: Working."));
  assert.equal(await becomes(piece("2", "HSM: Working.", "Backup: Working.")), "");
  assert.equal(
    await becomes(piece("3", "HSM: No agent online.", "Backup: Working.")),
    "HSM: No agent online.",
  );
  assert.equal(
    await becomes(piece("4", "HSM: Working.", "Backup: Disabled.")),
    "HSM: Working. Backup: Disabled.",
  );
  assert.equal(await becomes(piece("5")), "");
  assert.match(render(liveStatus), /id="live-status" role="status"><\/p>/);
});
