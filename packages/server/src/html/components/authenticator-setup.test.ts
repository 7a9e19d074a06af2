import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "qrcode";
import { render } from "../html.ts";
import { qrCode, qrImage } from "./authenticator-setup.ts";

const TEXT = "otpauth://totp/Acme:ada@acme.example?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Acme";

test("the path fills exactly the code's modules, with a quiet zone of four", async () => {
  const { size, path } = await qrCode(TEXT);
  const { size: inner, data } = create(TEXT, { errorCorrectionLevel: "M" }).modules;
  assert.equal(size, inner + 8);
  const dark = new Set<string>();
  for (const [, x = "", y = "", width = ""] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g))
    for (let at = 0; at < Number(width); at++) dark.add(`${Number(x) + at - 4},${Number(y) - 4}`);
  assert.equal(path.replace(/M\d+ \d+h(\d+)v1h-\1z/g, ""), "", "nothing else is in the path");
  for (let y = 0; y < inner; y++)
    for (let x = 0; x < inner; x++)
      assert.equal(dark.has(`${x},${y}`), Boolean(data[y * inner + x]), `${x},${y}`);
});

test("the QR code has an accessible name and no style or script", async () => {
  const image = render(qrImage(await qrCode(TEXT), `Code "for" <you>`));
  assert.match(
    image,
    /^<svg class="qr" role="img" aria-label="Code &quot;for&quot; &lt;you&gt;" viewBox="0 0 \d+ \d+"><path d="[Mhvz0-9 -]+"\/><\/svg>$/,
  );
});
