// Messages of webhooks: signature, time, several secrets, raw bodies, hostile forms.
import assert from "node:assert/strict";
import { createHmac, randomBytes } from "node:crypto";
import { test } from "node:test";
import { verifyWebhook } from "./verify-webhook.ts";

const NOW = 1_796_000_000;
const clock = () => NOW * 1_000;
const newSecret = () => `whsec_${randomBytes(32).toString("base64")}`;
const secret = newSecret();
const event = {
  ...{ id: "e1", type: "user.disabled", timestamp: "2026-11-28T12:00:00.000Z" },
  data: { organisation: "o", actor: "user:u", target: "t", details: { name: "Ærø" } },
};
const body = JSON.stringify(event);

const sign = (by: string, id: string, time: number | string, text: string) =>
  `v1,${createHmac("sha256", Buffer.from(by.slice(6), "base64"))
    .update(`${id}.${time}.${text}`)
    .digest("base64")}`;
const headersOf = ({ by = secret, id = "e1", time = NOW as number | string, text = body } = {}) => ({
  "webhook-id": id,
  "webhook-timestamp": String(time),
  "webhook-signature": sign(by, id, time, text),
});
const refuses = (message: Parameters<typeof verifyWebhook>[0], secrets: string | string[] = secret) =>
  assert.rejects(verifyWebhook(message, secrets, { clock }), {
    ...{ code: "signature", status: 401, description: "The message is not authenticated." },
  });

test("a signed message gives its event, whatever form headers and body have", async () => {
  const headers = headersOf();
  assert.deepEqual(await verifyWebhook({ headers, body }, secret, { clock }), event);
  const web = new Headers(headers);
  assert.deepEqual(
    await verifyWebhook({ headers: web, body: Buffer.from(body) }, [secret], { clock }),
    event,
  );
  const capital = {
    "Webhook-Id": "e1",
    "Webhook-Timestamp": String(NOW),
    "Webhook-Signature": headers["webhook-signature"],
  };
  assert.deepEqual(await verifyWebhook({ headers: capital, body }, secret, { clock }), event);
});

test("while a secret is rotated, one signature by one secret is enough", async () => {
  const next = newSecret();
  const both = {
    ...headersOf(),
    "webhook-signature": `${sign(next, "e1", NOW, body)} ${sign(secret, "e1", NOW, body)}`,
  };
  for (const secrets of [secret, next, [newSecret(), secret]])
    assert.deepEqual(await verifyWebhook({ headers: both, body }, secrets, { clock }), event);
  await refuses({ headers: both, body }, newSecret());
  const other = { ...headersOf(), "webhook-signature": `v1a,AAAA v1,!! ${sign(secret, "e1", NOW, body)}` };
  assert.deepEqual(await verifyWebhook({ headers: other, body }, secret, { clock }), event);
});

test("five minutes either way, and no more, unless it is said", async () => {
  for (const time of [NOW - 300, NOW + 300])
    assert.deepEqual(await verifyWebhook({ headers: headersOf({ time }), body }, secret, { clock }), event);
  for (const time of [NOW - 301, NOW + 301, "", "x", "1e9", "-1"])
    await refuses({ headers: headersOf({ time }), body });
  const late = { headers: headersOf({ time: NOW - 500 }), body };
  assert.ok(await verifyWebhook(late, secret, { clock, toleranceSeconds: 600 }));
});

test("what was changed on the way, or is another's, is refused", async () => {
  await refuses({ headers: headersOf(), body: `${body} ` });
  await refuses({ headers: { ...headersOf(), "webhook-id": "e2" }, body });
  await refuses({ headers: { ...headersOf(), "webhook-timestamp": String(NOW - 1) }, body });
  await refuses({ headers: headersOf({ by: newSecret() }), body });
  for (const name of ["webhook-id", "webhook-timestamp", "webhook-signature"] as const) {
    await refuses({ headers: { ...headersOf(), [name]: undefined }, body });
    await refuses({ headers: { ...headersOf(), [name]: ["a", "b"] }, body });
  }
  for (const signature of ["", "v1,", "v1", "v2,AAAA", " ", sign(secret, "e1", NOW, body).slice(0, -2)])
    await refuses({ headers: { ...headersOf(), "webhook-signature": signature }, body });
});

test("what is signed and is no event, or another's id, is refused", async () => {
  for (const text of [
    "",
    "x",
    "[]",
    "null",
    "{}",
    JSON.stringify({ ...event, id: "e2" }),
    JSON.stringify({ ...event, data: 1 }),
  ])
    await refuses({ headers: headersOf({ text }), body: text });
});

test("what is no secret is a fault of the configuration", async () => {
  for (const wrong of ["", "whsec_", "whsec_!!", "whsec_QUJD", secret.slice(6), []] as const)
    await assert.rejects(verifyWebhook({ headers: headersOf(), body }, wrong as string, { clock }), {
      code: "configuration",
    });
});
