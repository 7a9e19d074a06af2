/** For organisation-isolation.test.ts: codes, devices, certificates and administrators of A, at B's addresses. */
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { fromBER } from "asn1js";
import { BasicOCSPResponse, Certificate, OCSPRequest, OCSPResponse } from "pkijs";
import { findDevice } from "../../core/devices/devices.store.ts";
import { createUser } from "../../core/users/users.ts";
import { importRoots } from "../../features/device-identity/ek-trust/roots.ts";
import { readTrustFile } from "../../features/device-identity/ek-trust/trust-file.ts";
import type { Service } from "../../modules/open-service.ts";
import { type TestBrowser, testBrowser } from "../fakes/browser.ts";
import { activated, beginBody, completeBody, softTpmDevice, softVendor } from "../fakes/soft-tpm-device.ts";
import { postJson } from "../fixtures/client.ts";
import { csrOf, enrol, enrolledByCode, newCode, renew, type TestEnrolment } from "../fixtures/enrolments.ts";
import { callApi, makeSystemAccount } from "../fixtures/system-account.ts";
import { follow, logIn, sessionCookie, showsLogin } from "../fixtures/visit.ts";
import { PASSWORD, type TestOrganisation } from "../test-service.ts";

interface Loot {
  readonly service: Service;
  readonly a: TestOrganisation;
  readonly b: TestOrganisation;
  /** Of the listener for proxies, who say what certificate a client has shown. */
  readonly proxyUrl: string;
}
type Probe = (loot: Loot) => Promise<void>;

const enrollment: Probe = async ({ service, a, b }) => {
  const code = await newCode(service, a.organisation.id);
  assert.equal((await enrol(b.issuer, code)).body["error"], "invalid_code");
  assert.equal((await enrol(a.issuer, code)).status, 201, "nothing was burnt");
};

/** A device of A's with a TPM whose vendor both believe, and the answer of `begin` there. */
async function tpmChallenge({ service, a, b }: Loot) {
  const vendor = softVendor();
  for (const { organisation } of [a, b])
    await importRoots(service, { orgId: organisation.id, actor: "test" }, [
      readTrustFile("root", Buffer.from(vendor.root.pem)),
    ]);
  const device = softTpmDevice(vendor);
  const begin = beginBody(device, await newCode(service, a.organisation.id));
  const elsewhere = await postJson(`${b.issuer}/devices/enroll/begin`, begin);
  assert.equal(elsewhere.body["error"], "invalid_code");
  const { status, body } = await postJson(`${a.issuer}/devices/enroll/begin`, begin);
  assert.equal(status, 200, JSON.stringify(body));
  return completeBody(device, a.organisation.id, activated(device, body));
}

const tpmCompletion: Probe = async (loot) => {
  const { a, b } = loot;
  const body = await tpmChallenge(loot);
  const elsewhere = await postJson(`${b.issuer}/devices/enroll/complete`, body);
  assert.deepEqual([elsewhere.status, elsewhere.body["error"]], [404, "challenge_not_found"]);
  assert.equal((await postJson(`${a.issuer}/devices/enroll/complete`, body)).status, 201);
};

const renewal: Probe = async ({ service, a, b, proxyUrl }) => {
  const device = await enrolledByCode(service, a.issuer);
  const ask = async ({ organisation }: TestOrganisation) =>
    renew(`${proxyUrl}/oauth/${organisation.id}/devices`, device.der, { csr: await csrOf(device.key) });
  assert.equal((await ask(b)).status, 401, "A's certificate");
  assert.equal((await ask(a)).body["error"], "invalid_request", "at A it is one, only too early");
};

const publicDocument =
  (method: "GET" | "HEAD", path: string): Probe =>
  async ({ service, a, b }) => {
    const { deviceId, certificate } = await enrolledByCode(service, a.issuer);
    const account = await makeSystemAccount(service, a, { administrator: true });
    await callApi(manageUrl(service, a, `/${deviceId}/revoke`), account, {
      method: "POST",
      strictAt: service.clock(),
    });
    const of = async ({ issuer }: TestOrganisation) => {
      const answer = await fetch(`${issuer}/devices/${path}`, { method });
      assert.equal(answer.status, 200);
      return { etag: answer.headers.get("etag"), bytes: Buffer.from(await answer.arrayBuffer()) };
    };
    const [ofA, ofB] = [await of(a), await of(b)];
    assert.notEqual(ofA.etag, ofB.etag);
    if (method === "HEAD") return;
    const serial = Buffer.from(new X509Certificate(certificate).serialNumber, "hex");
    if (path === "ca.crl") assert.ok(ofA.bytes.includes(serial) && !ofB.bytes.includes(serial));
    else assert.ok(!ofB.bytes.includes(ofA.bytes));
  };

const certificateOf = (pem: string): Certificate => {
  const { raw } = new X509Certificate(pem);
  return new Certificate({ schema: fromBER(new Uint8Array(raw).buffer).result });
};

/** The status of A's certificate at both: B's CA never issued it. */
const ocsp =
  (send: (url: string, request: Buffer) => Promise<Response>): Probe =>
  async ({ service, a, b }) => {
    const { certificate } = await enrolledByCode(service, a.issuer);
    const statusAt = async (issuer: string, ca: string): Promise<number | undefined> => {
      const request = new OCSPRequest();
      const [device, authority] = [certificateOf(certificate), certificateOf(ca)];
      await request.createForCertificate(device, { hashAlgorithm: "SHA-1", issuerCertificate: authority });
      const answer = await send(`${issuer}/devices/ocsp`, Buffer.from(request.toSchema(true).toBER(false)));
      const { result } = fromBER(await answer.arrayBuffer());
      const bytes = new OCSPResponse({ schema: result }).responseBytes?.response.valueBlock.valueHexView;
      const basic = new BasicOCSPResponse({ schema: fromBER(new Uint8Array(bytes ?? []).buffer).result });
      const status = basic.tbsResponseData.responses[0]?.certStatus as { idBlock: { tagNumber: number } };
      return status.idBlock.tagNumber;
    };
    const caOf = async ({ issuer }: TestOrganisation) => (await fetch(`${issuer}/devices/ca.pem`)).text();
    const [good, unknown] = [0, 2];
    assert.equal(await statusAt(a.issuer, await caOf(a)), good);
    assert.equal(await statusAt(b.issuer, await caOf(a)), unknown);
    assert.equal(await statusAt(b.issuer, await caOf(b)), unknown);
  };

const manageUrl = ({ config }: Service, { organisation }: TestOrganisation, path = ""): string =>
  `${config.baseUrl}/devices/manage/${organisation.id}${path}`;

/** An administrator of A, whose session's token stands under the name of B's cookie too. */
async function administratorOfA({ service, a, b }: Loot): Promise<TestBrowser> {
  const email = `admin-${crypto.randomUUID()}@a.example`;
  const person = { email, password: PASSWORD, firstname: "Ada", surname: "Admin", emailVerified: true };
  const { organisation } = a;
  const role = "Administrator";
  const id = await createUser(service, { organisation, ...person, role, actor: "test" });
  const browser = testBrowser();
  const user = { id, email, password: PASSWORD };
  const page = await logIn(browser, { ...a, user }, await browser.get(manageUrl(service, a)));
  assert.match(page.body, /id="device-register-submit"/);
  const [, value = ""] = sessionCookie(browser, a) ?? [];
  browser.cookies.set(`signet-${b.organisation.id}`, value);
  return browser;
}

interface Wanted {
  readonly path: string;
  readonly body?: object;
  /** Where B's own administrator gets on, because the path names nothing of A's. */
  readonly isOwn?: boolean;
}

/** By A's administrator at B, in a browser and with a signature; by B's with what is A's. */
const managed =
  (method: "GET" | "POST", wanted: (loot: Loot) => Promise<Wanted>): Probe =>
  async (loot) => {
    const { service, a, b } = loot;
    const { path, body, isOwn = false } = await wanted(loot);
    const browser = await administratorOfA(loot);
    const { hidden } = await browser.get(manageUrl(service, a));
    const url = manageUrl(service, b, path);
    const page = method === "GET" ? await browser.get(url) : await browser.post(url, hidden);
    assert.ok(showsLogin(page), "A's session");
    // Only the page has this operation: API clients need no confirmation.
    if (method === "GET" && !isOwn) return;
    for (const [account, at] of [
      [a, b],
      [b, a],
      [b, b],
    ] as const) {
      const by = await makeSystemAccount(service, account, { administrator: true });
      const asked = { method, strictAt: service.clock(), ...(body ? { body } : {}) };
      const { status, text } = await callApi(manageUrl(service, at, path), by, asked);
      const what = `${account === a ? "A's" : "B's"} at ${at === a ? "A" : "B"}: ${text}`;
      assert.equal(status < 300, isOwn && account === at, what);
      if (status >= 300) assert.equal(status, 404, what);
    }
  };

const devicePath = async ({ service, a }: Loot): Promise<Wanted & { readonly device: TestEnrolment }> => {
  const device = await enrolledByCode(service, a.issuer);
  return { path: `/${device.deviceId}/revoke`, device };
};

const codePath = async ({ service, a }: Loot): Promise<Wanted> => {
  const by = await makeSystemAccount(service, a, { administrator: true });
  const asked = { body: {}, strictAt: service.clock() };
  const { body } = await callApi(manageUrl(service, a, "/register"), by, asked);
  return { path: `/codes/${body["id"]}/withdraw` };
};

/** Pages alone: A's session opens none of B's, and changes nothing there. */
const pageAlone =
  (method: "GET" | "POST", path: string): Probe =>
  async (loot) => {
    const browser = await administratorOfA(loot);
    const { hidden } = await browser.get(manageUrl(loot.service, loot.a));
    const url = manageUrl(loot.service, loot.b, path);
    const page = method === "GET" ? await browser.get(url) : await browser.post(url, hidden);
    // Back to the list, where nothing was sent.
    assert.ok(showsLogin(await follow(browser, page)), "A's session");
  };

/** Neither with A's session nor by B's own administrator. */
const devicePage =
  (tab: string): Probe =>
  async (loot) => {
    const { service, a, b } = loot;
    const { deviceId } = await enrolledByCode(service, a.issuer);
    const path = `/${deviceId}${tab}`;
    await pageAlone("GET", path)(loot);
    const statusAt = async (at: TestOrganisation, browser: TestBrowser) =>
      (await browser.get(manageUrl(service, at, path))).status;
    assert.equal(await statusAt(a, await administratorOfA(loot)), 200);
    assert.equal(await statusAt(b, await administratorOfA({ ...loot, a: b, b: a })), 404, "A's device");
  };

/** The part that waits for a device: read by a script, which is told a status alone. */
const waitingPanel: Probe = async (loot) => {
  const { service, a, b } = loot;
  const path = (await codePath(loot)).path.replace("withdraw", "waiting");
  const browser = await administratorOfA(loot);
  const statusAt = async (at: TestOrganisation) => (await browser.get(manageUrl(service, at, path))).status;
  assert.deepEqual([await statusAt(a), await statusAt(b)], [200, 403], "A's session");
  const own = await administratorOfA({ ...loot, a: b, b: a });
  assert.equal((await own.get(manageUrl(service, b, path))).status, 404, "A's code");
};

export const deviceProbes = {
  "POST /oauth/:org/devices/enroll": enrollment,
  "POST /oauth/:org/devices/enroll/begin": async (loot: Loot) => void (await tpmChallenge(loot)),
  "POST /oauth/:org/devices/enroll/complete": tpmCompletion,
  "POST /oauth/:org/devices/renew": renewal,
  ...Object.fromEntries(
    (["GET", "HEAD"] as const).flatMap((method) =>
      ["ca.pem", "ca.crl"].map((path) => [
        `${method} /oauth/:org/devices/${path}`,
        publicDocument(method, path),
      ]),
    ),
  ),
  "POST /oauth/:org/devices/ocsp": ocsp((url, request) =>
    fetch(url, {
      method: "POST",
      headers: { "content-type": "application/ocsp-request" },
      body: new Uint8Array(request),
    }),
  ),
  "GET /oauth/:org/devices/ocsp/*": ocsp((url, request) =>
    fetch(`${url}/${encodeURIComponent(request.toString("base64"))}`),
  ),
  "GET /devices/manage/:org": managed("GET", async () => ({ path: "", isOwn: true })),
  "POST /devices/manage/:org/register": managed("POST", async () => ({
    path: "/register",
    body: { name: "Till" },
    isOwn: true,
  })),
  "GET /devices/manage/:org/:id": devicePage(""),
  "GET /devices/manage/:org/:id/activity": devicePage("/activity"),
  "GET /devices/manage/:org/:id/certificates": devicePage("/certificates"),
  ...Object.fromEntries(
    ["/bulk", "/export", "/codes", "/codes/bulk", "/codes/export"].map((path) => [
      `GET /devices/manage/:org${path}`,
      pageAlone("GET", path),
    ]),
  ),
  "POST /devices/manage/:org/bulk": pageAlone("POST", "/bulk"),
  "POST /devices/manage/:org/codes/bulk": pageAlone("POST", "/codes/bulk"),
  "GET /devices/manage/:org/:id/revoke": managed("GET", devicePath),
  "POST /devices/manage/:org/:id/revoke": async (loot: Loot) => {
    const { device, path } = await devicePath(loot);
    await managed("POST", async () => ({ path, body: {} }))(loot);
    const { service, a } = loot;
    const kept = await findDevice(service.database.query, a.organisation.id, device.deviceId);
    assert.equal(kept?.revokedAt, null, "nothing was ended");
  },
  "GET /devices/manage/:org/codes/:id/waiting": waitingPanel,
  "GET /devices/manage/:org/codes/:id/withdraw": managed("GET", codePath),
  "POST /devices/manage/:org/codes/:id/withdraw": managed("POST", codePath),
  "GET /devices/manage/:org/policy": managed("GET", async () => ({ path: "/policy", isOwn: true })),
  "POST /devices/manage/:org/policy": managed("POST", async () => ({
    path: "/policy",
    body: { attestation: "optional" },
    isOwn: true,
  })),
} satisfies Readonly<Record<string, Probe>>;
