import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import fastify from "fastify";
import { acceptForms, parsedForm } from "./form-body.ts";

const headers = { "content-type": "application/x-www-form-urlencoded" };

/** What a page's form becomes that has so many fields at most, and how often one was mended for it. */
async function sent(t: TestContext, payload: string, maxFields?: number) {
  const app = fastify({ bodyLimit: 512 * 1024 });
  t.after(() => app.close());
  acceptForms(app);
  const config = { sanitizesForms: true, ...(maxFields === undefined ? {} : { maxFields }) };
  app.post("/", { config }, async (request) => {
    const { values, isSanitized = false } = parsedForm(request);
    return { values: Object.fromEntries(values), isSanitized };
  });
  const mending = t.mock.method(URLSearchParams.prototype as { toString(): string }, "toString");
  const answer = await app.inject({ method: "POST", url: "/", headers, payload });
  const mended = mending.mock.callCount();
  mending.mock.restore();
  return { status: answer.statusCode, body: answer.json() as unknown, mended };
}

test("replaces non-text with the replacement character and marks the form", async (t) => {
  for (const odd of ["%00", "\0", "%FF", "\uFFFD", "%ZZ"]) {
    const { body } = await sent(t, `a=1&b=x${odd}y`);
    const { values, isSanitized } = body as { values: Record<string, string>; isSanitized: boolean };
    assert.ok(isSanitized, JSON.stringify(odd));
    assert.equal(values["a"], "1");
    assert.equal(values["b"], odd === "%ZZ" ? "x%ZZy" : "x\uFFFDy");
  }
  assert.deepEqual((await sent(t, "a=1&b=2")).body, { values: { a: "1", b: "2" }, isSanitized: false });
});

test("rejects a form with too many fields before sanitizing it", async (t) => {
  for (const most of [undefined, 300]) {
    const { status, mended } = await sent(t, "a&".repeat(256 * 1024), most);
    assert.deepEqual({ status, mended }, { status: 400, mended: 0 });
    assert.equal((await sent(t, `${"a=1&".repeat((most ?? 100) - 1)}b=%00`, most)).mended, 1);
  }
});
