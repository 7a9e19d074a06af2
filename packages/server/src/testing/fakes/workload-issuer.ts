/** An issuer of identity tokens on loopback: its keys, its discovery document, and how often each was asked for. */
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWTHeaderParameters, SignJWT } from "jose";
import { seconds } from "../../core/clock.ts";
import type { FakeClock } from "./fake-clock.ts";

export interface WorkloadIssuer {
  readonly issuer: string;
  readonly jwksUri: string;
  /** By path. */
  readonly asked: string[];
  readonly jwks: { readonly keys: Array<Readonly<Record<string, unknown>>> };
  /** What the discovery document says instead. */
  document: Readonly<Record<string, unknown>>;
  /** Expires in five minutes and has a new `jti`, unless the claims say otherwise. */
  sign(claims: object, header?: Partial<JWTHeaderParameters>): Promise<string>;
  /** Signs with another key from now on, which it publishes beside the ones before. */
  rotate(): Promise<void>;
  close(): Promise<void>;
}

export async function startWorkloadIssuer(clock: FakeClock, alg = "RS256"): Promise<WorkloadIssuer> {
  const jwks: WorkloadIssuer["jwks"] = { keys: [] };
  const asked: string[] = [];
  let key: CryptoKey;
  let kid = "";
  const rotate = async () => {
    kid = randomUUID();
    const pair = await generateKeyPair(alg, { extractable: true });
    key = pair.privateKey;
    jwks.keys.push({ ...(await exportJWK(pair.publicKey)), kid, alg, use: "sig" });
  };
  await rotate();
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    const isDocument = request.url?.endsWith("/.well-known/openid-configuration");
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(isDocument ? running.document : jwks));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}`;
  const jwksUri = `${issuer}/keys`;
  const running: WorkloadIssuer = {
    ...{ issuer, jwksUri, asked, jwks, rotate, document: { issuer, jwks_uri: jwksUri } },
    sign: (claims, header = {}) => {
      const now = seconds(clock());
      const all = { iss: issuer, iat: now, exp: now + 300, jti: randomUUID(), ...claims };
      return new SignJWT(all).setProtectedHeader({ alg, kid, ...header }).sign(key);
    },
    close: () =>
      new Promise<void>((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
  return running;
}

/** Claims as the issuers send them, without `iss`, `aud` and times. */
export const workloadClaims = {
  githubActions: {
    ...{
      sub: "repo:acme/site:ref:refs/heads/main",
      ref: "refs/heads/main",
      sha: "a1b2c3",
      repository: "acme/site",
    },
    ...{
      repository_owner: "acme",
      repository_owner_id: "1234",
      repository_id: "5678",
      repository_visibility: "private",
    },
    ...{
      run_id: "91",
      run_number: "10",
      run_attempt: "1",
      actor: "octocat",
      actor_id: "12",
      workflow: "deploy",
    },
    ...{ event_name: "push", ref_type: "branch", ref_protected: "true", environment: "production" },
    job_workflow_ref: "acme/site/.github/workflows/deploy.yml@refs/heads/main",
    runner_environment: "github-hosted",
  },
  gitlab: {
    ...{ sub: "project_path:acme/site:ref_type:branch:ref:main", namespace_id: "72", namespace_path: "acme" },
    ...{
      project_id: "20",
      project_path: "acme/site",
      user_id: "1",
      user_login: "ada",
      user_email: "ada@acme.example",
    },
    ...{ pipeline_id: "574", pipeline_source: "push", job_id: "302", ref: "main", ref_type: "branch" },
    ...{
      ref_path: "refs/heads/main",
      ref_protected: "true",
      runner_id: 1,
      runner_environment: "self-hosted",
    },
    ci_config_ref_uri: "gitlab.example/acme/site//.gitlab-ci.yml@refs/heads/main",
  },
  kubernetes: {
    sub: "system:serviceaccount:prod:api",
    "kubernetes.io": {
      namespace: "prod",
      node: { name: "node-1", uid: "646e7c5e-32d6-4d42-9dbd-e504e6cbe6b1" },
      pod: { name: "api-6f9c", uid: "5e0bd49b-f040-43b0-99b7-22765a53f7f3" },
      serviceaccount: { name: "api", uid: "14ee3fa4-a7e2-420f-9f9a-dbc4507c3798" },
    },
  },
  spiffe: { sub: "spiffe://acme.example/ns/prod/sa/api" },
} as const;
