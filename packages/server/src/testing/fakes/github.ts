/** GitHub on loopback, as its web pages and its API answer: every answer can be changed, one by one. */
import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ProviderAnswer } from "./hostile-provider.ts";

export interface FakeGithub {
  readonly issuer: string;
  /** Of `/user`: merged. */
  user: Record<string, unknown>;
  /** Of `/user/emails`. */
  emails: unknown;
  /** By path, instead of the honest answer. */
  readonly answers: Map<string, ProviderAnswer | "silent">;
  /** What was asked for, with its headers. */
  readonly asked: Array<{ readonly path: string; readonly headers: IncomingMessage["headers"] }>;
  reset(): void;
  /** As the browser comes back: a code for what the authorization request asked. */
  comeBack(sentTo: string, more?: Readonly<Record<string, string | undefined>>): string;
  close(): Promise<void>;
}

const SECRET = "their secret";

/** As GitHub's documentation shows them, of one person. */
const octocat = {
  ...{ login: "octocat", id: 583231, node_id: "MDQ6VXNlcjU4MzIzMQ==", type: "User", site_admin: false },
  ...{
    name: "monalisa octocat",
    company: "GitHub",
    email: "shown@octo.example",
    two_factor_authentication: true,
  },
};
const addresses = [
  { email: "old@octo.example", verified: true, primary: false, visibility: null },
  { email: "octocat@octo.example", verified: true, primary: true, visibility: "private" },
  { email: "583231+octocat@users.noreply.github.com", verified: true, primary: false, visibility: null },
];

export async function startFakeGithub(): Promise<FakeGithub> {
  const codes = new Map<string, URLSearchParams>();
  const tokens = new Set<string>();
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const github: FakeGithub = {
    ...{ issuer, user: {}, emails: addresses, answers: new Map(), asked: [] },
    reset: () => {
      Object.assign(github, { user: {}, emails: addresses });
      github.answers.clear();
      github.asked.splice(0);
    },
    comeBack: (sentTo, more = {}) => {
      const asked = new URL(sentTo).searchParams;
      const code = randomUUID().replaceAll("-", "").slice(0, 20);
      codes.set(code, asked);
      const back = new URL(asked.get("redirect_uri") ?? "");
      const sent = { code, state: asked.get("state") ?? "", iss: `${issuer}/login/oauth`, ...more };
      for (const [name, value] of Object.entries(sent))
        if (value !== undefined) back.searchParams.append(name, value);
      return back.href;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? "/", issuer);
    github.asked.push({ path: pathname, headers: request.headers });
    const told = github.answers.get(pathname);
    if (told === "silent") return;
    const { status = 200, headers = {}, body } = told ?? (await honestAnswer(pathname, request));
    const text = typeof body === "string" ? body : JSON.stringify(body);
    response.writeHead(status, { "content-type": "application/json; charset=utf-8", ...headers }).end(text);
  }

  async function honestAnswer(pathname: string, request: IncomingMessage): Promise<ProviderAnswer> {
    if (pathname === "/login/oauth/access_token") return token(request);
    // GitHub's API refuses who says no name, and who has no token.
    if (request.headers["user-agent"] === undefined) return { status: 403, body: "Request forbidden" };
    const [, bearer = ""] = /^Bearer (.+)$/.exec(request.headers.authorization ?? "") ?? [];
    if (!tokens.has(bearer)) return { status: 401, body: { message: "Bad credentials", status: "401" } };
    if (pathname === "/api/v3/user") return { body: { ...octocat, ...github.user } };
    if (pathname === "/api/v3/user/emails") return { body: github.emails };
    return { status: 404, body: { message: "Not Found", status: "404" } };
  }

  /** Errors have status 200, and a form as their answer where JSON is not asked for. */
  async function token(request: IncomingMessage): Promise<ProviderAnswer> {
    const form = new URLSearchParams(await textOf(request));
    const asked = codes.get(form.get("code") ?? "");
    codes.delete(form.get("code") ?? "");
    if (request.headers.accept !== "application/json") return { body: "access_token=form&token_type=bearer" };
    if (form.get("client_id") !== "signet" || form.get("client_secret") !== SECRET)
      return { body: { error: "incorrect_client_credentials", error_description: "not passed correctly" } };
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    const isRight =
      asked?.get("redirect_uri") === form.get("redirect_uri") && asked?.get("code_challenge") === challenge;
    if (!isRight)
      return { body: { error: "bad_verification_code", error_description: "incorrect or expired" } };
    const issued = `gho_${randomUUID().replaceAll("-", "")}`;
    tokens.add(issued);
    return { body: { access_token: issued, scope: "read:user,user:email", token_type: "bearer" } };
  }
  return github;
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
