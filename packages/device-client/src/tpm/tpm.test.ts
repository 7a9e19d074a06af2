/** Commands against a TPM that says what a test wants: errors, retries, and that nothing is left in it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sized, u16, u32 } from "@signet/protocol/tpm/buffer-reader";
import { writePublicArea } from "@signet/protocol/tpm/public-area";
import { commandCodes } from "./command.ts";
import {
  activateCredential,
  readPublic,
  withEndorsementSession,
  withLoaded,
  withPrimary,
} from "./objects.ts";
import { attestationTemplate, deviceKeyTemplate, ekTemplates, storageTemplate } from "./templates.ts";
import { type Tpm, TpmRefusal, tpmOver } from "./tpm.ts";

interface Sent {
  readonly code: number;
  /** What follows the header. */
  readonly body: Buffer;
}

/** @param answer of each command: an error, or what a success brings behind its header */
function fakeTpm(answer: (sent: Sent, count: number) => number | Buffer) {
  const sent: Sent[] = [];
  const waits: number[] = [];
  const exchange = async (bytes: Buffer): Promise<Buffer> => {
    assert.equal(bytes.readUInt32BE(2), bytes.length, "a command says how long it is");
    const one = { code: bytes.readUInt32BE(6), body: bytes.subarray(10) };
    sent.push(one);
    const said = answer(one, sent.length);
    const tag = bytes.readUInt16BE(0);
    const [code, body] = typeof said === "number" ? [said, Buffer.alloc(0)] : [0, said];
    return Buffer.concat([u16(code === 0 ? tag : 0x8001), u32(10 + body.length), u32(code), body]);
  };
  const tpm: Tpm = tpmOver({ exchange, close: async () => {} }, async (milliseconds) =>
    waits.push(milliseconds),
  );
  return { tpm, sent, waits, names: () => sent.map(({ code }) => nameOf(code)) };
}

const nameOf = (code: number): string =>
  Object.entries(commandCodes).find(([, number]) => number === code)?.[0] ?? String(code);

const HANDLE = 0x8000_0001;
const point = { kind: "ecc", curve: "P-256", x: Buffer.alloc(32, 1), y: Buffer.alloc(32, 2) } as const;
const area = writePublicArea({
  nameAlg: "sha256",
  attributes: 0,
  authPolicy: Buffer.alloc(0),
  symmetricBits: undefined,
  scheme: undefined,
  key: point,
});
/** Handle, size of the parameters, parameters, an empty session. */
const created = Buffer.concat([u32(HANDLE), u32(area.length + 2), sized(area), Buffer.alloc(5)]);
const loaded = Buffer.concat([u32(HANDLE), u32(2), u16(0), Buffer.alloc(5)]);
const primary = { hierarchy: 0x4000_0001, template: storageTemplate };
const blobs = { publicPart: sized(area), privatePart: sized(Buffer.alloc(4)) };
const flushOf = (handle: number): Buffer => u32(handle);

describe("a TPM", () => {
  for (const code of [0x908, 0x90a, 0x922])
    test(`repeats a command after 0x${code.toString(16)}, with growing pauses`, async () => {
      const { tpm, sent, waits } = fakeTpm((_sent, count) => (count < 4 ? code : sized(area)));
      assert.deepEqual((await readPublic(tpm, HANDLE)).bytes, area);
      assert.deepEqual([sent.length, waits], [4, [10, 20, 40]]);
    });

  test("gives up on a TPM that never gets ready, and reports any other error at once", async () => {
    const busy = fakeTpm(() => 0x922);
    await assert.rejects(readPublic(busy.tpm, HANDLE), { code: 0x922 });
    assert.equal(busy.sent.length, 20);
    const full = fakeTpm(() => 0x902);
    await assert.rejects(readPublic(full.tpm, HANDLE), /TPM2_ReadPublic \(0x902: out of memory for keys/);
    assert.equal(full.sent.length, 1);
  });

  test("says which password is set, whatever handle the error names", async () => {
    for (const code of [0x9a2, 0x1a2, 0x98e])
      await assert.rejects(readPublic(fakeTpm(() => code).tpm, HANDLE), /hierarchy has a password/);
  });

  test("flushes keys after use, the last one first", async () => {
    const { tpm, sent, names } = fakeTpm(({ code }) =>
      code === commandCodes.CreatePrimary ? created : code === commandCodes.Load ? loaded : Buffer.alloc(0),
    );
    const result = await withPrimary(tpm, primary, (key) => withLoaded(tpm, key, blobs, async () => "done"));
    assert.equal(result, "done");
    assert.deepEqual(names(), ["CreatePrimary", "Load", "FlushContext", "FlushContext"]);
    assert.deepEqual(sent.at(-1)?.body, flushOf(HANDLE));
  });

  test("flushes keys when the work fails, and reports the work's error", async () => {
    const { tpm, names } = fakeTpm(({ code }) =>
      code === commandCodes.CreatePrimary ? created : code === commandCodes.Load ? 0x1df : 0x101,
    );
    const work = withPrimary(tpm, primary, (key) => withLoaded(tpm, key, blobs, async () => {}));
    await assert.rejects(work, (error) => error instanceof TpmRefusal && error.command === "Load");
    assert.deepEqual(names(), ["CreatePrimary", "Load", "FlushContext"]);
  });

  test("flushes a key whose public area cannot be read", async () => {
    const odd = Buffer.concat([u32(HANDLE), u32(4), sized(Buffer.from([0, 8])), Buffer.alloc(5)]);
    const { tpm, names } = fakeTpm(({ code }) =>
      code === commandCodes.CreatePrimary ? odd : Buffer.alloc(0),
    );
    await assert.rejects(withPrimary(tpm, primary, async () => {}));
    assert.deepEqual(names(), ["CreatePrimary", "FlushContext"]);
  });

  test("flushes the session when the policy is refused", async () => {
    const { tpm, names } = fakeTpm(({ code }) =>
      code === commandCodes.StartAuthSession ? Buffer.concat([u32(0x0300_0000), u16(0)]) : 0x9a2,
    );
    await assert.rejects(
      withEndorsementSession(tpm, 0x0b, async () => {}),
      { code: 0x9a2 },
    );
    assert.deepEqual(names(), ["StartAuthSession", "PolicySecret", "FlushContext"]);
  });

  test("uses an empty password for the high range, and a policy for the low range", async () => {
    const secret = Buffer.concat([u32(6), sized(Buffer.from("open")), Buffer.alloc(10)]);
    const answer = ({ code }: Sent) =>
      code === commandCodes.StartAuthSession
        ? Buffer.concat([u32(0x0300_0000), u16(0)])
        : code === commandCodes.ActivateCredential
          ? secret
          : code === commandCodes.PolicySecret
            ? Buffer.concat([u32(0), Buffer.alloc(5)])
            : Buffer.alloc(0);
    const key = (attributes: number) => ({
      handle: HANDLE,
      publicArea: {
        nameAlg: "sha256",
        attributes,
        authPolicy: area,
        scheme: undefined,
        key: point,
        bytes: area,
      },
    });
    const open = async (attributes: number) => {
      const fake = fakeTpm(answer);
      const ek = key(attributes) as Parameters<typeof activateCredential>[1]["ek"];
      const credential = { credentialBlob: Buffer.alloc(2), encryptedSecret: Buffer.alloc(2) };
      assert.equal(String(await activateCredential(fake.tpm, { ak: ek, ek }, credential)), "open");
      return fake.names();
    };
    assert.deepEqual(await open(0x300f2), ["ActivateCredential"]);
    const withPolicy = ["StartAuthSession", "PolicySecret", "ActivateCredential", "FlushContext"];
    assert.deepEqual(await open(0x300b2), withPolicy);
  });

  test("a truncated answer is an error", async () => {
    const transport = { exchange: async () => Buffer.from("8001000000", "hex"), close: async () => {} };
    await assert.rejects(readPublic(tpmOver(transport), HANDLE), /ends too early/);
  });
});

test("keys cannot leave the TPM, and only the attestation key is restricted", () => {
  const attributesOf = (template: Buffer) => template.readUInt32BE(4);
  assert.equal(attributesOf(deviceKeyTemplate), 0x0004_0472);
  assert.equal(attributesOf(attestationTemplate), 0x0005_0472);
  assert.equal(attributesOf(storageTemplate), 0x0003_0472);
  assert.deepEqual(
    [...new Set(ekTemplates.map(({ template }) => attributesOf(template)))],
    [0x300b2, 0x300f2],
  );
});
