// Beside the server whose enrolments are measured: makes the codes and requests for it, and does the bare work of one.
import { generateKeyPairSync } from "node:crypto";
import { performance } from "node:perf_hooks";
import { readCsr } from "../../../packages/protocol/src/csr/csr.ts";
import { csrPem, makeKeyCsr } from "../../../packages/protocol/src/csr/make-csr.ts";
import { newUuid } from "../../../packages/protocol/src/uuid.ts";
import { readConfig } from "../../../packages/server/src/config/config.ts";
import { registerDevice } from "../../../packages/server/src/features/device-identity/admin/register-device.ts";
import { openService } from "../../../packages/server/src/modules/open-service.ts";
import { answerQuestions } from "../child-side.ts";

/** The `settings` of the server as JSON, and the organisation. */
const [settings = "{}", orgId = ""] = process.argv.slice(2);

export type EnrolmentQuestion =
  /** So many codes, each with a request of a new key: bodies of `POST enroll`. */
  | { kind: "bodies"; count: number }
  /** The requests of such bodies, read, proven and answered with a certificate, so many under way at a time. */
  | { kind: "bare"; bodies: readonly string[]; connections: number; seconds: number };

export type EnrolmentAnswer = { bodies: string[] } | { answers: number; perSecond: number };

const service = await openService(readConfig(JSON.parse(settings) as Record<string, string>), {
  onError: console.error,
});

const groupOf = 64;

async function newBodies(count: number): Promise<string[]> {
  const bodies: string[] = [];
  while (bodies.length < count)
    bodies.push(
      ...(await Promise.all(Array.from({ length: Math.min(groupOf, count - bodies.length) }, newBody))),
    );
  return bodies;
}

async function newBody(): Promise<string> {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { code } = await registerDevice(service, { orgId, actor: "bench" });
  return JSON.stringify({ code, csr: csrPem(await makeKeyCsr(privateKey)) });
}

/** The same code as the server's, and the same CA: without HTTP, without the database. */
async function bare(
  requests: readonly string[],
  { connections, seconds }: { connections: number; seconds: number },
): Promise<{ answers: number; perSecond: number }> {
  const csrs = requests.map((body) => (JSON.parse(body) as { csr: string }).csr);
  let done = 0;
  const start = performance.now();
  const deadline = start + seconds * 1000;
  const worker = async (slot: number) => {
    for (let at = slot; performance.now() < deadline; at += connections) {
      const { spki } = readCsr(csrs[at % csrs.length] ?? "");
      await service.deviceCa.issue({ orgId, deviceId: newUuid(), spki, attestation: "none" });
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, (_unused, slot) => worker(slot)));
  return { answers: done, perSecond: (done * 1000) / (performance.now() - start) };
}

answerQuestions<EnrolmentQuestion, EnrolmentAnswer>({ port: 0 }, async (question) =>
  question.kind === "bodies"
    ? { bodies: await newBodies(question.count) }
    : await bare(question.bodies, question),
);
